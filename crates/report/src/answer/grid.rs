//! All places side by side, with what is done now: a table where there are more than two, or
//! where two or more parameters vary. The last of these goes across, with the places.

use anstyle::{AnsiColor, Style};
use model::analysis::{ArmResult, Verdict};
use model::grouped::{each_once, group_of, push_new};

use super::entry::param;
use crate::columns::{Cell, Table};
use crate::subject::Subject;
use crate::text::Width;
use crate::words;

/// Fewer places are in the advice.
const PLACES_MIN: usize = 3;
/// Fewer parameters are, too.
const FACTORS_MIN: usize = 2;

/// The tables, each under a line that says what it has; nothing where none is needed.
pub(super) fn text(subject: Subject, width: Width, rows_max: usize) -> String {
    let mut grids: Vec<Grid> = Vec::new();
    for first in subject.first_arms() {
        let Some(grid) = Grid::of(subject, first) else { continue };
        match grids.last_mut().filter(|last| last.columns == grid.columns) {
            Some(last) => last.rows.extend(grid.rows),
            None => grids.push(grid),
        }
    }
    grids.iter().map(|grid| grid.text(subject, width, rows_max)).collect()
}

struct Grid<'a> {
    /// A place, with the value of the parameter that goes across.
    columns: Vec<(String, String)>,
    rows: Vec<(String, Vec<Option<&'a ArmResult>>)>,
}

impl<'a> Grid<'a> {
    /// That of the arms that do the same thing as their first.
    fn of(subject: Subject<'a>, first: &ArmResult) -> Option<Self> {
        let is_alike =
            |arm: &&ArmResult| arm.subject() == first.subject() && arm.strategy == first.strategy;
        let arms: Vec<&ArmResult> = subject.analysis.arms.iter().filter(is_alike).collect();
        let called = subject.called(first);
        let order = subject.study_of(first)?.params.iter().map(|param| param.name.as_str());
        let varies =
            |name: &&str| arms.iter().any(|arm| arm.params.get(*name) != first.params.get(*name));
        let mut factors: Vec<&str> = order.filter(varies).collect();
        let places = subject.run.places.len();
        if places < PLACES_MIN && factors.len() < FACTORS_MIN {
            return None;
        }
        let across = if factors.len() < FACTORS_MIN { None } else { factors.pop() };
        let value = |arm: &ArmResult| {
            across.map_or_else(String::new, |name| {
                let value = arm.params.get(name).map_or("", String::as_str);
                param(subject, arm, name, value)
            })
        };
        let mut columns = Vec::new();
        let mut rows = Vec::new();
        for arm in arms {
            push_new(&mut columns, (value(arm), arm.place.clone()));
            let words = factors
                .iter()
                .filter_map(|name| Some(param(subject, arm, name, arm.params.get(*name)?)));
            let name = std::iter::once(called.clone()).chain(words).collect::<Vec<_>>().join(" ");
            group_of(&mut rows, name).push(arm);
        }
        // The places of one value beside each other.
        let values: Vec<String> = each_once(columns.iter().map(|(value, _)| String::clone(value)));
        columns.sort_by_key(|(value, _)| values.iter().position(|known| known == value));
        let cells = |arms: Vec<&'a ArmResult>| {
            let at = |(across, place): &(String, String)| {
                arms.iter().find(|arm| value(arm) == *across && arm.place == *place).copied()
            };
            columns.iter().map(at).collect()
        };
        let rows = rows.into_iter().map(|(name, arms)| (name, cells(arms))).collect();
        Some(Self { columns: columns.clone(), rows })
    }

    /// As one table where that is wide enough, else one for each value that goes across, else
    /// place by place.
    fn text(&self, subject: Subject, width: Width, rows_max: usize) -> String {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let across = |a: &usize, b: &usize| self.columns[*a].0 == self.columns[*b].0;
        let by_value: Vec<&[usize]> = all.chunk_by(across).collect();
        let one_by_one: Vec<&[usize]> = all.chunks(1).collect();
        let texts = [vec![all.as_slice()], by_value, one_by_one].map(|tables| {
            let tables = tables.into_iter().map(|columns| self.table(subject, columns, rows_max));
            tables.collect::<Vec<Table>>()
        });
        let fits = |tables: &&Vec<Table>| tables.iter().all(|table| table.width() <= width);
        let shown = texts.iter().find(fits).unwrap_or(&texts[2]);
        let text: Vec<String> = shown.iter().map(Table::flush).collect();
        let untold = self.rows.len().saturating_sub(rows_max);
        let more = if untold > 0 { format!("and {untold} more: --full\n") } else { String::new() };
        format!("\n{}{more}", text.join("\n"))
    }

    fn table(&self, subject: Subject, columns: &[usize], rows_max: usize) -> Table {
        let places = columns.iter().map(|column| Cell::dim(&self.columns[*column].1));
        let places = std::iter::once(Cell::dim("as done now")).chain(places);
        let is_first =
            |at: usize| at == 0 || self.columns[columns[at - 1]].0 != self.columns[columns[at]].0;
        let values = columns.iter().enumerate().map(|(at, column)| {
            Cell::dim(if is_first(at) { &self.columns[*column].0 } else { "" })
        });
        let mut table = if self.columns.iter().all(|(value, _)| value.is_empty()) {
            Table::new(places)
        } else {
            let mut table = Table::new(std::iter::once(Cell::dim("")).chain(values));
            table.add_row(places);
            table
        };
        for (name, cells) in self.rows.iter().take(rows_max) {
            let cells = columns.iter().map(|column| match cells[*column] {
                Some(arm) => cell(subject, arm),
                None => Cell::new("–"),
            });
            table.add_row(std::iter::once(Cell::new(name)).chain(cells));
        }
        table.align_right(1..=columns.len());
        table
    }
}

/// What an arm takes; green where it is surely less than now, with a mark where that is open.
fn cell(subject: Subject, arm: &ArmResult) -> Cell {
    let text = words::typical(subject, arm);
    let (mark, style) = match subject.analysis.against_now(&arm.id).map(|c| c.verdict) {
        None => ("", Style::new().bold()),
        Some(Verdict::Faster) => ("", AnsiColor::Green.on_default()),
        Some(Verdict::Slower) => ("", AnsiColor::Red.on_default()),
        Some(Verdict::Same) => ("", Style::new()),
        Some(Verdict::Unclear) => ("?", Style::new().dimmed()),
        Some(Verdict::Invalid) => ("!", AnsiColor::Magenta.on_default()),
    };
    Cell::new(format!("{text}{mark}")).styled(style)
}
