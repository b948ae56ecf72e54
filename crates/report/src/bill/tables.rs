//! What a bill adds up: by kind of call, by folder and by file.

use trace::{Bill, Cost, FileCost, FolderCost, KindCost};
use units::{count, percent, rough_size, time};

use super::names::{brief_share, doing, file, folder, shortened};
use super::opening::middle;
use crate::columns::{Cell, GAP, Table};
use crate::text::Width;

/// Rows of each table where not all of them are asked for.
const KINDS: usize = 4;
const FOLDERS: usize = 4;
const FILES: usize = 3;
/// Less of the time than this has no row then.
const SHOWN: f64 = 0.001;
/// The least that is left for a name.
const NAME_MIN: usize = 12;
/// Narrower than this there is no room for the last columns.
const WIDTH_FULL: usize = 76;

pub(super) fn all(bill: &Bill, full: bool, width: Width) -> String {
    [kinds(bill, full), folders(bill, full), files(bill, full)]
        .into_iter()
        .filter(|rows| rows.lines.len() > 1)
        .map(|rows| format!("\n{}", rows.table(width).flush()))
        .collect()
}

/// The rows of a table, the first of which are its heads.
struct Rows {
    lines: Vec<Vec<String>>,
    /// The column of names, which are shortened to what the others leave.
    name: usize,
    /// Columns of numbers.
    right: std::ops::Range<usize>,
    /// How many columns there are where there is no room for all.
    narrow: usize,
}

impl Rows {
    fn new(heads: Vec<&str>, name: usize, right: std::ops::Range<usize>, narrow: usize) -> Self {
        let heads = heads.into_iter().map(str::to_owned).collect();
        Self { lines: vec![heads], name, right, narrow }
    }

    fn add(&mut self, cells: Vec<String>) {
        self.lines.push(cells);
    }

    fn table(mut self, width: Width) -> Table {
        let columns = if width < WIDTH_FULL { self.narrow } else { usize::MAX };
        self.lines.iter_mut().for_each(|line| line.truncate(columns));
        let room = width.saturating_sub(self.other_columns()).max(NAME_MIN);
        for name in self.lines.iter_mut().skip(1).filter_map(|line| line.get_mut(self.name)) {
            *name = shortened(name, room);
        }
        let mut lines = self.lines.into_iter();
        let mut table = Table::new(lines.next().into_iter().flatten().map(Cell::dim));
        lines.for_each(|line| table.add_row(line.into_iter().map(Cell::new)));
        table.align_right(self.right);
        table
    }

    /// What the columns take that are not names, with the gaps.
    fn other_columns(&self) -> usize {
        let columns = self.lines.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let widths = (0..columns).filter(|column| *column != self.name).map(width);
        widths.sum::<usize>() + GAP * columns.saturating_sub(1)
    }
}

/// The rows that are shown.
fn shown<T>(rows: &[T], full: bool, rows_max: usize, share: fn(&T) -> f64) -> &[T] {
    let matter = rows.iter().take_while(|row| full || share(row) >= SHOWN).count();
    &rows[..if full { matter } else { matter.min(rows_max) }]
}

/// The heads of a table of costs, those of what was not seen left out.
fn heads(bill: &Bill, first: &'static str, last: &'static str) -> Vec<&'static str> {
    let divided: &[&str] = if bill.files.divided.is_some() { &["CPU", "waiting"] } else { &[] };
    [&[first, "calls", "time", "share"], divided, &[last]].concat()
}

/// The cells of a cost, with one before and one behind.
fn cells(first: String, cost: &Cost, last: String) -> Vec<String> {
    let numbers = [count(cost.calls), time(middle(cost.once_ns)), brief_share(cost.part)];
    let divided = cost
        .divided
        .map(|divided| [time(middle(divided.processor_ns)), time(divided.waited_ns as f64)]);
    let divided = divided.into_iter().flatten();
    [first].into_iter().chain(numbers).chain(divided).chain([last]).collect()
}

fn kinds(bill: &Bill, full: bool) -> Rows {
    let heads = heads(bill, "time spent", "where");
    let last = heads.len() - 1;
    let mut rows = Rows::new(heads, last, 1..last, 4);
    for KindCost { kind, cost, folder: place } in
        shown(&bill.kinds, full, KINDS, |kind| kind.cost.part.high)
    {
        let place = place.as_ref().map_or(String::new(), |path| folder(bill, path));
        let doing = doing(*kind, cost.mostly_waits(), cost.mostly_waits_for());
        rows.add(cells(doing, cost, place));
    }
    rows
}

fn folders(bill: &Bill, full: bool) -> Rows {
    let heads = heads(bill, "folder", "mostly");
    let last = heads.len() - 1;
    let mut rows = Rows::new(heads, 0, 1..last, 4);
    for FolderCost { path, cost, most, most_share: _, most_waits, most_waits_for } in
        shown(&bill.folders, full, FOLDERS, |folder| folder.cost.part.high)
    {
        let mostly = doing(*most, *most_waits, *most_waits_for);
        rows.add(cells(folder(bill, path), cost, mostly));
    }
    rows
}

fn files(bill: &Bill, full: bool) -> Rows {
    let heads = vec!["file", "time", "share", "opens", "syncs", "read", "written"];
    let last = heads.len();
    let mut rows = Rows::new(heads, 0, 1..last, 5);
    let some = |number: u64, text: String| if number == 0 { "–".to_owned() } else { text };
    for cost in shown(&bill.top_files, full, FILES, |file| file.share) {
        let FileCost { opens, read_bytes, written_bytes, syncs, .. } = *cost;
        rows.add(vec![
            file(bill, &cost.path),
            time(cost.summed_ns as f64),
            percent(cost.share),
            some(opens, count(opens)),
            some(syncs, count(syncs)),
            some(read_bytes, rough_size(read_bytes)),
            some(written_bytes, rough_size(written_bytes)),
        ]);
    }
    rows
}
