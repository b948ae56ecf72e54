//! What a study measured besides the time per operation, as a table with the columns that have
//! anything to show.

use model::analysis::ArmResult;
use model::description::{FigureDescription, StudyDescription};
use units::{three_digits, time};

use crate::columns::{Cell, GAP, Table};
use crate::text::{Width, paragraph};

/// The figures, in as many tables as the width asks for; nothing where there are none.
pub(crate) fn tables(study: &StudyDescription, arms: &[&ArmResult], width: Width) -> String {
    let mut columns: Vec<Column> = study
        .figures
        .iter()
        .filter(|figure| figure.shown)
        .map(|figure| Column::new(&figure.title, arms, |arm| cell(arm, figure)))
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

struct Column<'a> {
    head: &'a str,
    cells: Vec<String>,
}

impl<'a> Column<'a> {
    fn new(head: &'a str, arms: &[&ArmResult], cell: impl Fn(&ArmResult) -> String) -> Self {
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
    let head = [strategies.head, places.head].into_iter().chain(columns.iter().map(|c| c.head));
    let mut table = Table::new(head.map(Cell::dim));
    let mut last = "";
    for row in 0..places.cells.len() {
        let strategy = strategies.cells[row].as_str();
        let shown = if strategy == last { "" } else { strategy };
        last = strategy;
        let names = [shown, places.cells[row].as_str()].into_iter();
        let figures = columns.iter().map(|column| column.cells[row].as_str());
        table.add_row(names.chain(figures).map(Cell::new));
    }
    table.align_right(2..2 + columns.len());
    table.indented()
}

/// A figure in its unit; empty where the arm has none.
fn cell(arm: &ArmResult, figure: &FigureDescription) -> String {
    arm.metrics.get(&figure.name).map_or_else(String::new, |value| figure.unit.show(*value))
}

/// What applications report of themselves, a line for each arm.
pub(crate) fn evidence(arms: &[&ArmResult], width: Width) -> String {
    let mut out = String::new();
    for arm in arms.iter().filter(|arm| !arm.evidence.is_empty()) {
        let figure = |(name, value): (&String, &f64)| {
            format!("{} {}", name.replace('_', " "), three_digits(*value))
        };
        let figures: Vec<String> = arm.evidence.iter().map(figure).collect();
        let text = format!("{} reports: {}", arm.id, figures.join(", "));
        out += &paragraph("  ", "    ", &text, width);
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

fn sync(arm: &ArmResult) -> String {
    if arm.io.sync_ns_per_op > 0.0 { time(arm.io.sync_ns_per_op) } else { String::new() }
}
