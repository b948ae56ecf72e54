//! A row for each thing that an application does with files: what it costs now, moved,
//! written another way, and both.

use anstyle::{AnsiColor, Style};
use model::analysis::{Advice, USUAL_PER_S, Verdict};
use model::cause::CauseCode;

use super::row::{Change, Row};
use crate::columns::{Cell, Table};
use crate::subject::Subject;
use crate::text::Width;
use crate::words;

/// From this width on there is room for the cause in the row.
const WIDTH_CAUSES: Width = 110;

/// The table, of no more rows than that.
pub(super) fn of(subject: Subject, rows: &[Row<'_>], width: Width, rows_max: usize) -> String {
    let shown = &rows[..rows.len().min(rows_max)];
    let columns = Columns::of(subject, rows);
    let with_causes = width >= WIDTH_CAUSES;
    let table = columns.table(shown, with_causes);
    let text = if table.width() <= width { table.flush() } else { columns.stacked(shown) };
    match rows.len() - shown.len() {
        0 => text,
        untold => format!("{text}and {untold} more: --full\n"),
    }
}

/// Which columns there are: none that would be empty.
pub(super) struct Columns {
    now: String,
    moved: Option<String>,
    rewritten: bool,
    both: bool,
}

impl Columns {
    pub(super) fn of(subject: Subject, rows: &[Row]) -> Self {
        let places = &subject.run.places;
        let mut moved_to: Vec<&str> = rows
            .iter()
            .filter_map(|row| row.changes().into_iter().next()?)
            .map(|change| change.other.place.as_str())
            .collect();
        moved_to.dedup();
        let has = |which: usize| rows.iter().any(|row| row.changes()[which].is_some());
        let moved = match moved_to[..] {
            [place] => format!("on {place}"),
            _ => "moved".to_owned(),
        };
        Self {
            now: places.first().map_or_else(String::new, |place| format!("on {}", place.label)),
            moved: has(0).then_some(moved),
            rewritten: has(1),
            both: has(2),
        }
    }

    pub(super) fn heads(&self) -> Vec<&str> {
        let mut heads = vec!["", self.now.as_str()];
        heads.extend(self.moved.as_deref());
        heads.extend(self.rewritten.then_some("rewritten"));
        heads.extend(self.both.then_some("both"));
        heads
    }

    /// The tolls of a row, in the order of the heads.
    fn typical_times(&self, row: &Row) -> Vec<Cell> {
        let now = Cell::new(row.typical()).styled(Style::new().bold());
        std::iter::once(now).chain(self.changes(row).into_iter().map(typical)).collect()
    }

    /// The changes of a row, in the order of the heads behind the first toll.
    pub(super) fn changes<'a>(&self, row: &Row<'a>) -> Vec<Option<Change<'a>>> {
        let [moved, rewritten, both] = row.changes();
        let shown = [(self.moved.is_some(), moved), (self.rewritten, rewritten), (self.both, both)];
        shown.into_iter().filter(|(shown, _)| *shown).map(|(_, change)| change).collect()
    }

    pub(super) fn compares(&self) -> bool {
        self.moved.is_some() || self.rewritten || self.both
    }

    fn table(&self, rows: &[Row], with_causes: bool) -> Table {
        let mut heads = self.heads();
        let typical_times = heads.len();
        if self.compares() {
            heads.extend(["factor", "worth it"]);
            heads.extend(with_causes.then_some("why"));
        }
        let mut table = Table::new(heads.into_iter().map(dim));
        for row in rows {
            let mut cells = vec![Cell::new(&row.name)];
            cells.extend(self.typical_times(row));
            if self.compares() {
                cells.extend(judged(row));
                cells.extend(with_causes.then(|| Cell::new(cause(row))));
            }
            table.add_row(cells);
        }
        table.align_right(1..typical_times);
        table
    }

    /// Where the columns do not fit beside each other: what is at best and whether it is
    /// worth it in a line of their own.
    fn stacked(&self, rows: &[Row]) -> String {
        let mut table = Table::new(self.heads().into_iter().map(dim));
        let mut seconds = Vec::new();
        for row in rows {
            table.add_row(std::iter::once(Cell::new(&row.name)).chain(self.typical_times(row)));
            let mut second = Table::new(std::iter::once(Cell::new("")).chain(judged(row)));
            second.align_right([]);
            seconds.push(if self.compares() { second.flush() } else { String::new() });
        }
        table.align_right(1..self.heads().len());
        let text = table.flush();
        let mut lines = text.lines();
        let mut out = lines.next().map_or_else(String::new, |head| format!("{head}\n"));
        for (line, second) in lines.zip(seconds) {
            out += &format!("{line}\n{second}");
        }
        out
    }
}

fn dim(text: &str) -> Cell {
    Cell::new(text).styled(Style::new().dimmed())
}

/// The toll of a change, green where it is surely less; with a question mark where nothing
/// is decided.
fn typical(change: Option<Change>) -> Cell {
    let Some(change) = change else { return Cell::new("") };
    let style = match change.comparison.verdict {
        Verdict::Faster => AnsiColor::Green.on_default(),
        Verdict::Slower => AnsiColor::Red.on_default(),
        Verdict::Same => Style::new(),
        Verdict::Unclear => Style::new().dimmed(),
        Verdict::Invalid => AnsiColor::Magenta.on_default(),
    };
    Cell::new(typical_text(&change)).styled(style)
}

/// The toll of a change; with a mark where nothing is decided, or it is not to be trusted.
pub(super) fn typical_text(change: &Change) -> String {
    let typical = change.typical();
    match change.comparison.verdict {
        Verdict::Faster | Verdict::Slower | Verdict::Same => typical,
        Verdict::Unclear => format!("{typical}?"),
        Verdict::Invalid => format!("{typical}!"),
    }
}

/// The factor of the best change with its interval, and whether it is worth it.
fn judged(row: &Row) -> [Cell; 2] {
    let Some(best) = row.best() else { return [Cell::new(""), Cell::new("")] };
    [Cell::new(best.factor()), threshold(row)]
}

fn threshold(row: &Row) -> Cell {
    let style = match row.answer.advice {
        Advice::Do => AnsiColor::Green.on_default().bold(),
        Advice::Maybe | Advice::Undecided => AnsiColor::Yellow.on_default(),
        Advice::Leave => Style::new(),
    };
    Cell::new(threshold_text(row)).styled(style)
}

/// Whether the change is worth it.
pub(super) fn threshold_text(row: &Row) -> String {
    let saved = row.saved_at_rate();
    let from = row.answer.pays_from_per_s.map(|from| format!("≥{}/s", words::rate(from)));
    let rare = row.answer.pays_from_per_s.is_some_and(|from| from > USUAL_PER_S);
    match row.answer.advice {
        Advice::Do => saved.unwrap_or_else(|| "yes".to_owned()),
        Advice::Maybe => {
            let text = from.filter(|_| rare && saved.is_none());
            text.or(saved).unwrap_or_else(|| "maybe".to_owned())
        }
        Advice::Leave => "no".to_owned(),
        Advice::Undecided => "undecided".to_owned(),
    }
}

/// The first cause of what the row says, in a few words.
pub(super) fn cause(row: &Row) -> String {
    let best = row.best();
    let causes = best.as_ref().map_or(&[][..], |change| &change.comparison.causes);
    let found = causes.iter().find(|cause| cause.code != CauseCode::NoneFound);
    found.map_or_else(String::new, |cause| cause.code.in_short().into_owned())
}
