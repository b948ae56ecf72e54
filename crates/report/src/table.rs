//! One study's tolls and verdicts as tables.

use comfy_table::{Attribute, Cell, CellAlignment, Color, Table, presets};
use model::arm::Axis;
use model::result::{ArmResult, Comparison, RunResult, Verdict};
use model::units::time;

use crate::terminal::Width;
use crate::words;

/// The arms of one study with the same parameters: the strategies, and each
/// place held against the first.
pub(crate) fn by_place(result: &RunResult, arms: &[&ArmResult], width: Width) -> String {
    let base = result.places.first().map_or("", |p| p.label.as_str());
    let against = if result.places.len() > 1 { format!("against {base}") } else { String::new() };
    let header = ["strategy", "place", "toll", "p99", &against, "", ""];
    rows(result, arms, Axis::Place, header, width, |arm| [&arm.strategy, &arm.place])
}

/// The same arms, each strategy held against the first at its place.
pub(crate) fn by_strategy(result: &RunResult, arms: &[&ArmResult], width: Width) -> String {
    let base = arms.first().map_or("", |arm| arm.strategy.as_str());
    let against = format!("against {base}");
    let header = ["place", "strategy", "toll", "p99", &against, "", ""];
    let mut arms: Vec<&ArmResult> = arms.to_vec();
    arms.sort_by_key(|arm| result.places.iter().position(|p| p.label == arm.place));
    rows(result, &arms, Axis::Strategy, header, width, |arm| [&arm.place, &arm.strategy])
}

fn rows<'a>(
    result: &RunResult,
    arms: &[&'a ArmResult],
    axis: Axis,
    header: [&str; 7],
    width: Width,
    names: impl Fn(&'a ArmResult) -> [&'a String; 2],
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    table.set_header(header.map(|text| Cell::new(text).add_attribute(Attribute::Dim)));
    let mut group = None;
    for arm in arms {
        let [outer, inner] = names(arm);
        let shown = if group == Some(outer) { "" } else { outer.as_str() };
        group = Some(outer);
        let mut row = vec![Cell::new(shown), Cell::new(inner)];
        row.extend(toll(arm));
        row.extend(judgement(result, arm, axis));
        table.add_row(row);
    }
    for column in [2, 3, 4] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    indented(&table.to_string(), width)
}

fn toll(arm: &ArmResult) -> [Cell; 2] {
    match arm.time_per_op_ns {
        Some(latency) => [
            Cell::new(time(latency.mean)).add_attribute(Attribute::Bold),
            Cell::new(time(latency.p99)),
        ],
        None => [Cell::new("–"), Cell::new("–")],
    }
}

fn judgement(result: &RunResult, arm: &ArmResult, axis: Axis) -> [Cell; 3] {
    let found = result.comparisons.iter().find(|c| c.other == arm.id && c.axis == axis);
    let Some(comparison) = found else {
        return [Cell::new(""), Cell::new(""), Cell::new("")];
    };
    [
        Cell::new(comparison.ratio.map_or_else(String::new, words::difference)),
        Cell::new(words::interval(comparison)),
        verdict(comparison),
    ]
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

pub(crate) fn indented(table: &str, _width: Width) -> String {
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}
