//! One study's times and verdicts as a table.

use anstyle::{AnsiColor, Style};
use model::analysis::{ArmResult, Comparison, Verdict};
use model::arm::Axis;
use units::time;

use crate::columns::{Cell, Table};
use crate::difference::Difference;
use crate::subject::Subject;
use crate::text::Width;
use crate::words;

/// Narrower than this there is no room for percentiles and intervals.
pub(crate) const WIDTH_FULL: Width = 72;

/// Where the names of strategies stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategies {
    /// In the first column, beside their places.
    Beside,
    /// In a line above their places, which takes less room.
    Above,
}

/// The arms of one study with the same parameters: each place held against
/// the first.
pub(crate) fn by_place(
    subject: Subject,
    arms: &[&ArmResult],
    width: Width,
    strategies: Strategies,
) -> Table {
    let places = &subject.run.places;
    let base = places.first().map_or("", |p| p.label.as_str());
    let against = if places.len() > 1 { format!("against {base}") } else { String::new() };
    let full = width >= WIDTH_FULL;
    let beside = strategies == Strategies::Beside;
    let names = [beside.then_some("strategy"), Some("place")];
    let figures = [Some("time"), full.then_some("p99"), Some(&against)];
    let mut table = Table::new(names.into_iter().chain(figures).flatten().map(Cell::dim));
    let mut group = None;
    for arm in arms {
        let shown = if group == Some(&arm.strategy) { "" } else { arm.strategy.as_str() };
        group = Some(&arm.strategy);
        let mut row = if beside {
            vec![Cell::new(shown), Cell::new(&arm.place)]
        } else {
            if !shown.is_empty() {
                table.add_row([Cell::new(shown)]);
            }
            vec![Cell::new(format!("  {}", arm.place))]
        };
        row.extend(typical(subject, arm, full));
        row.extend(judgement(subject, arm, Axis::Place, full));
        table.add_row(row);
    }
    let first = if beside { 2 } else { 1 };
    table.align_right(first..first + if full { 3 } else { 2 });
    table
}

/// The same arms, each held against another way of doing it: the first strategy, or the
/// first value of a parameter that is compared, at its place and at the first.
pub(crate) fn by_strategy(subject: Subject, arms: &[&ArmResult], width: Width) -> String {
    let mut tables: Vec<Ways> = Vec::new();
    for arm in arms {
        let own = |c: &&Comparison| c.other == arm.id && c.axis != Axis::Place;
        for comparison in subject.analysis.comparisons.iter().filter(own) {
            let Some(base) = subject.arm(&comparison.base) else { continue };
            let (name, way) = (subject.difference(arm, base), subject.difference(base, arm));
            let against = match comparison.axis {
                Axis::Both => format!("{way} on {}", base.place),
                Axis::Place | Axis::Strategy => way,
            };
            let at = tables.iter().position(|ways| ways.against == against).unwrap_or_else(|| {
                let head = if arm.strategy == base.strategy { "" } else { "strategy" };
                let table = ways_table(head, &against);
                tables.push(Ways { against, table, last: String::new() });
                tables.len() - 1
            });
            let ways = &mut tables[at];
            let shown = if ways.last == name { "" } else { name.as_str() };
            let mut row = vec![Cell::new(shown), Cell::new(&arm.place)];
            row.extend(judged(comparison, width >= WIDTH_FULL));
            ways.table.add_row(row);
            ways.last = name;
        }
    }
    let mut texts: Vec<String> = Vec::new();
    for Ways { table, .. } in &mut tables {
        table.align_right([2]);
        texts.push(table.indented());
    }
    texts.join("\n")
}

/// Ways that are held against the same one.
struct Ways {
    against: String,
    table: Table,
    /// The way of the last row.
    last: String,
}

fn ways_table(head: &str, against: &str) -> Table {
    Table::new([head, "place", &format!("against {against}")].map(Cell::dim))
}

fn typical(subject: Subject, arm: &ArmResult, full: bool) -> Vec<Cell> {
    let none = || "–".to_owned();
    let p99 = arm.time_per_op_ns.map_or_else(none, |latency| time(latency.p99));
    let typical = Cell::new(words::typical(subject, arm)).styled(Style::new().bold());
    if full { vec![typical, Cell::new(p99)] } else { vec![typical] }
}

/// What is said of an arm against its base along an axis.
fn judgement(subject: Subject, arm: &ArmResult, axis: Axis, full: bool) -> Vec<Cell> {
    let found = subject.analysis.comparisons.iter().find(|c| c.other == arm.id && c.axis == axis);
    found.map_or_else(Vec::new, |comparison| judged(comparison, full))
}

/// The difference, its interval and the verdict.
fn judged(comparison: &Comparison, full: bool) -> Vec<Cell> {
    let Difference { ratio, interval } = Difference::of(comparison);
    let mut cells = vec![Cell::new(ratio)];
    if full {
        // Shorter than in a sentence, for the room that a row has.
        cells.push(Cell::new(interval.replace(" to ", "–")));
    }
    cells.push(verdict(comparison.verdict));
    cells
}

pub(crate) fn verdict(verdict: Verdict) -> Cell {
    let style = match verdict {
        Verdict::Faster => AnsiColor::Green.on_default().bold(),
        Verdict::Slower => AnsiColor::Red.on_default().bold(),
        Verdict::Same => Style::new().bold(),
        Verdict::Unclear => AnsiColor::Yellow.on_default(),
        Verdict::Invalid => AnsiColor::Magenta.on_default().bold(),
    };
    Cell::new(verdict.as_str()).styled(style)
}
