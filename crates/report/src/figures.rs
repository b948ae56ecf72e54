//! What a study measured beside the toll, as a table with the columns that have
//! anything to show.

use comfy_table::{Attribute, Cell, CellAlignment, Table, presets};
use model::result::ArmResult;
use model::sample::EVIDENCE_PREFIX;
use model::study::StudySpec;
use model::units::{count, percent, rough_size, three_digits, time};

use crate::table::indented;
use crate::terminal::{Width, paragraph};

/// The table; nothing where there are no figures.
pub(crate) fn table(spec: &StudySpec, arms: &[&ArmResult]) -> String {
    let mut columns: Vec<(&str, Vec<String>)> = spec
        .figures
        .iter()
        .filter(|figure| !figure.column.is_empty())
        .map(|figure| (figure.column, arms.iter().map(|arm| cell(arm, figure.name)).collect()))
        .collect();
    columns.push(("in sync", arms.iter().map(|arm| sync(arm)).collect()));
    columns.retain(|(_, cells)| cells.iter().any(|cell| !cell.is_empty()));
    if columns.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    let header = ["strategy", "place"].into_iter().chain(columns.iter().map(|(name, _)| *name));
    table.set_header(header.map(|text| Cell::new(text).add_attribute(Attribute::Dim)));
    let mut last = "";
    for (row, arm) in arms.iter().enumerate() {
        let strategy = if arm.strategy == last { "" } else { arm.strategy.as_str() };
        last = &arm.strategy;
        let names = [strategy, &arm.place].map(str::to_owned).into_iter();
        table.add_row(names.chain(columns.iter().map(|(_, cells)| cells[row].clone())));
    }
    for column in 0..columns.len() {
        if let Some(column) = table.column_mut(column + 2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    indented(&table)
}

/// A figure in the unit that its name ends in; empty where the arm has none.
fn cell(arm: &ArmResult, name: &str) -> String {
    let Some(&value) = arm.metrics.get(name) else { return String::new() };
    if name.ends_with("_ns") || name.contains("_ns_per_") {
        time(value)
    } else if name.ends_with("_share") || name == "dropped_per_record" {
        percent(value)
    } else if name.ends_with("_percent") {
        percent(value / 100.0)
    } else if name.contains("_bytes") {
        rough_size(value.round() as u64)
    } else if name.ends_with("_per_s") {
        count(value.round() as u64)
    } else {
        three_digits(value)
    }
}

/// What the applications told of themselves, a line for each arm.
pub(crate) fn evidence(arms: &[&ArmResult], width: Width) -> String {
    let mut out = String::new();
    for arm in arms {
        let told = arm.metrics.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(EVIDENCE_PREFIX)?.replace('_', " ");
            Some(format!("{name} {}", three_digits(*value)))
        });
        let told: Vec<String> = told.collect();
        if !told.is_empty() {
            let text = format!("{} tells: {}", arm.id, told.join(", "));
            out += &paragraph("  ", "    ", &text, width);
        }
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn sync(arm: &ArmResult) -> String {
    if arm.io.sync_calls > 0 { time(arm.io.sync_ns_per_op) } else { String::new() }
}
