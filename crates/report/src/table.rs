//! One study's tolls and verdicts as a table.

use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};
use model::arm::Axis;
use model::result::{ArmResult, Comparison, RunResult, Verdict};
use model::units::time;

use crate::terminal::Width;
use crate::words;

/// Narrower than this there is no room for percentiles and intervals.
const WIDTH_FULL: Width = 72;
/// What styles begin and end with.
const ESCAPE: char = '\u{1b}';

/// The arms of one study with the same parameters: each place held against
/// the first.
pub(crate) fn by_place(result: &RunResult, arms: &[&ArmResult], width: Width) -> String {
    let base = result.places.first().map_or("", |p| p.label.as_str());
    let against = if result.places.len() > 1 { format!("against {base}") } else { String::new() };
    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    let full = width >= WIDTH_FULL;
    let header =
        [Some("strategy"), Some("place"), Some("toll"), full.then_some("p99"), Some(&against)];
    table.set_header(header.into_iter().flatten().map(dim));
    let mut group = None;
    for arm in arms {
        let shown = if group == Some(&arm.strategy) { "" } else { arm.strategy.as_str() };
        group = Some(&arm.strategy);
        let mut row = vec![Cell::new(shown), Cell::new(&arm.place)];
        row.extend(toll(arm, full));
        row.extend(judgement(result, arm, Axis::Place, full));
        table.add_row(row);
    }
    align_right(&mut table, if full { &[2, 3, 4] } else { &[2, 3] });
    indented(&table)
}

/// The same arms, each held against another way of doing it at its place: the first
/// strategy, or the first value of a parameter that is compared.
pub(crate) fn by_strategy(result: &RunResult, arms: &[&ArmResult], width: Width) -> String {
    let mut tables: Vec<(String, Table)> = Vec::new();
    let mut group = String::new();
    for arm in arms {
        let own = |c: &&Comparison| c.other == arm.id && c.axis == Axis::Strategy;
        for comparison in result.comparisons.iter().filter(own) {
            let Some(base) = result.arm(&comparison.base) else { continue };
            let (name, against) = (arm.way_apart_from(base), base.way_apart_from(arm));
            let at = tables.iter().position(|(other, _)| *other == against).unwrap_or_else(|| {
                let head = if arm.strategy == base.strategy { "" } else { "strategy" };
                group.clear();
                tables.push((against.clone(), ways_table(head, &against)));
                tables.len() - 1
            });
            let shown = if group == name { "" } else { name.as_str() };
            let mut row = vec![Cell::new(shown), Cell::new(&arm.place)];
            row.extend(judged(comparison, width >= WIDTH_FULL));
            tables[at].1.add_row(row);
            group = name;
        }
    }
    let mut texts: Vec<String> = Vec::new();
    for (_, table) in &mut tables {
        align_right(table, &[2]);
        texts.push(indented(table));
    }
    texts.join("\n")
}

fn ways_table(head: &str, against: &str) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    table.set_header([head, "place", &format!("against {against}")].map(dim));
    table
}

fn dim(text: &str) -> Cell {
    let cell = Cell::new(text);
    if text.is_empty() { cell } else { cell.add_attribute(Attribute::Dim) }
}

fn align_right(table: &mut Table, columns: &[usize]) {
    for column in columns {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn toll(arm: &ArmResult, full: bool) -> Vec<Cell> {
    let none = || "–".to_owned();
    let toll = match (words::highest_rate(arm), arm.toll_ns) {
        (Some(_), Some(toll_ns)) => format!("{}/s", words::rate(1e9 / toll_ns)),
        (_, toll_ns) => {
            // Results from before there was such a field have the mean.
            let toll_ns = toll_ns.or(arm.time_per_op_ns.map(|latency| latency.mean));
            toll_ns.map_or_else(none, time)
        }
    };
    let p99 = arm.time_per_op_ns.map_or_else(none, |latency| time(latency.p99));
    let toll = Cell::new(toll).add_attribute(Attribute::Bold);
    if full { vec![toll, Cell::new(p99)] } else { vec![toll] }
}

/// What is said of an arm against its base along an axis.
fn judgement(result: &RunResult, arm: &ArmResult, axis: Axis, full: bool) -> Vec<Cell> {
    let found = result.comparisons.iter().find(|c| c.other == arm.id && c.axis == axis);
    found.map_or_else(Vec::new, |comparison| judged(comparison, full))
}

/// The difference, its interval and the verdict.
fn judged(comparison: &Comparison, full: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::new(comparison.ratio.map_or_else(String::new, words::difference))];
    if full {
        cells.push(Cell::new(words::interval(comparison.ratio_low, comparison.ratio_high)));
    }
    cells.push(verdict(comparison));
    cells
}

fn verdict(comparison: &Comparison) -> Cell {
    let cell = Cell::new(words::verdict(comparison.verdict));
    match comparison.verdict {
        Verdict::Faster => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        Verdict::Slower => cell.fg(Color::Red).add_attribute(Attribute::Bold),
        Verdict::Same => cell.add_attribute(Attribute::Bold),
        Verdict::Unclear => cell.fg(Color::Yellow),
        Verdict::Invalid => cell.fg(Color::Magenta).add_attribute(Attribute::Bold),
    }
}

/// The table's lines, indented, without the padding at their ends.
pub(crate) fn indented(table: &Table) -> String {
    table.lines().map(|line| format!(" {}\n", without_padding(&line))).collect()
}

/// Takes away the spaces at the end, also from before the codes that end a style.
fn without_padding(line: &str) -> String {
    let (text, mut codes) = (line.trim_end(), String::new());
    let mut text = text;
    while let Some(start) = text.rfind(ESCAPE).filter(|_| text.ends_with('m')) {
        codes.insert_str(0, &text[start..]);
        text = text[..start].trim_end();
    }
    format!("{text}{codes}")
}
