//! What a study measured beside the toll, as a table with the columns that have
//! anything to show.

use comfy_table::{Attribute, Cell, CellAlignment, Table, presets};
use model::result::ArmResult;
use model::sample::EVIDENCE_PREFIX;
use model::study::StudySpec;
use model::units::{count, percent, rough_size, three_digits, time};

use crate::table::indented;
use crate::terminal::{Width, paragraph};

/// Between two columns.
const GAP: usize = 2;

/// The figures, in as many tables as the width asks for; nothing where there are none.
pub(crate) fn tables(spec: &StudySpec, arms: &[&ArmResult], width: Width) -> String {
    let mut columns: Vec<Column> = spec
        .figures
        .iter()
        .filter(|figure| !figure.column.is_empty())
        .map(|figure| Column::new(figure.column, arms, |arm| cell(arm, figure.name)))
        .collect();
    columns.push(Column::new("in sync", arms, sync));
    columns.retain(Column::tells);
    let names = [
        Column::new("strategy", arms, |arm| arm.strategy.clone()),
        Column::new("place", arms, |arm| arm.place.clone()),
    ];
    let room = width.saturating_sub(names.iter().map(Column::width).sum());
    let mut tables: Vec<String> = Vec::new();
    let mut rest = columns.as_slice();
    while !rest.is_empty() {
        let (these, others) = rest.split_at(fitting(rest, room));
        tables.push(table(&names, these));
        rest = others;
    }
    tables.join("\n")
}

/// How many columns there is room for, of which there is always one.
fn fitting(columns: &[Column], room: Width) -> usize {
    let mut taken = 0;
    let fit = columns.iter().take_while(|column| {
        taken += column.width();
        taken <= room
    });
    fit.count().max(1)
}

struct Column {
    head: &'static str,
    cells: Vec<String>,
}

impl Column {
    fn new(head: &'static str, arms: &[&ArmResult], cell: impl Fn(&ArmResult) -> String) -> Self {
        Self { head, cells: arms.iter().map(|arm| cell(arm)).collect() }
    }

    /// Whether there is anything to see: that nothing happened is not, but for a share
    /// of what might have, such as of connections that failed.
    fn tells(&self) -> bool {
        let nothing = |cell: &String| ["", "0", "0 B", "0 ns"].contains(&cell.as_str());
        !self.cells.iter().all(nothing)
    }

    fn width(&self) -> Width {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.max().unwrap_or_default().max(self.head.chars().count()) + GAP
    }
}

fn table([strategies, places]: &[Column; 2], columns: &[Column]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).enforce_styling();
    let head = [strategies.head, places.head].into_iter().chain(columns.iter().map(|c| c.head));
    table.set_header(head.map(|text| Cell::new(text).add_attribute(Attribute::Dim)));
    let mut last = "";
    for row in 0..places.cells.len() {
        let strategy = strategies.cells[row].as_str();
        let shown = if strategy == last { "" } else { strategy };
        last = strategy;
        let names = [shown, places.cells[row].as_str()].into_iter();
        table.add_row(names.chain(columns.iter().map(|column| column.cells[row].as_str())));
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
    if arm.io.sync_ns_per_op > 0.0 { time(arm.io.sync_ns_per_op) } else { String::new() }
}
