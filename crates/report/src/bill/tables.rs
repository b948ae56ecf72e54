//! What a bill adds up: by kind of call, by folder and by file.

use anstyle::Style;
use model::units::{count, percent, rough_size, time};
use trace::{Bill, FileCost, FolderCost, KindCost};

use super::names::{file, folder, share, shortened};
use super::opening::middle;
use crate::columns::{Cell, Table};
use crate::text::Width;

/// Rows of each table where not all of them are asked for.
const KINDS: usize = 4;
const FOLDERS: usize = 4;
const FILES: usize = 3;
/// Less of the time than this has no row then.
const SHOWN: f64 = 0.001;
/// What the other columns take at the most.
const OTHER_COLUMNS: usize = 58;
/// The least that is left for a name.
const NAME_MIN: usize = 16;
/// Narrower than this there is no room for the last columns.
const WIDTH_FULL: usize = 76;

pub(super) fn all(bill: &Bill, full: bool, width: Width) -> String {
    let room = width.saturating_sub(OTHER_COLUMNS).max(NAME_MIN);
    let is_narrow = width < WIDTH_FULL;
    [kinds(bill, full, room), folders(bill, full, room), files(bill, full, room)]
        .into_iter()
        .filter(|rows| rows.lines.len() > 1)
        .map(|rows| format!("\n{}", rows.table(is_narrow).flush()))
        .collect()
}

/// The rows of a table, the first of which are its heads.
struct Rows {
    lines: Vec<Vec<Cell>>,
    /// Columns of numbers.
    right: std::ops::Range<usize>,
    /// How many columns there are where there is no room for all.
    narrow: usize,
}

impl Rows {
    fn new(heads: &[&str], right: std::ops::Range<usize>, narrow: usize) -> Self {
        let dim = |head: &&str| Cell::new(head).styled(Style::new().dimmed());
        Self { lines: vec![heads.iter().map(dim).collect()], right, narrow }
    }

    fn add<const COLUMNS: usize>(&mut self, cells: [String; COLUMNS]) {
        self.lines.push(cells.into_iter().map(Cell::new).collect());
    }

    fn table(self, is_narrow: bool) -> Table {
        let columns = if is_narrow { self.narrow } else { usize::MAX };
        let mut rows = self.lines.into_iter().map(|row| row.into_iter().take(columns));
        let mut table = Table::new(rows.next().into_iter().flatten());
        rows.for_each(|row| table.add_row(row));
        table.align_right(self.right);
        table
    }
}

/// The rows that are shown.
fn shown<T>(rows: &[T], full: bool, rows_max: usize, share: fn(&T) -> f64) -> &[T] {
    let matter = rows.iter().take_while(|row| full || share(row) >= SHOWN).count();
    &rows[..if full { matter } else { matter.min(rows_max) }]
}

fn kinds(bill: &Bill, full: bool, room: usize) -> Rows {
    let mut rows = Rows::new(&["time spent", "calls", "time", "share", "where"], 1..4, 4);
    for KindCost { kind, cost, folder: place } in
        shown(&bill.kinds, full, KINDS, |kind| kind.cost.share.high)
    {
        let place = place.as_ref().map_or(String::new(), |path| folder(bill, path));
        rows.add([
            kind.doing().to_owned(),
            count(cost.calls),
            time(middle(cost.once_ns)),
            share(cost.share),
            shortened(&place, room),
        ]);
    }
    rows
}

fn folders(bill: &Bill, full: bool, room: usize) -> Rows {
    let mut rows = Rows::new(&["folder", "calls", "time", "share", "mostly"], 1..4, 4);
    for FolderCost { path, cost, most, most_share: _ } in
        shown(&bill.folders, full, FOLDERS, |folder| folder.cost.share.high)
    {
        rows.add([
            shortened(&folder(bill, path), room),
            count(cost.calls),
            time(middle(cost.once_ns)),
            share(cost.share),
            most.doing().to_owned(),
        ]);
    }
    rows
}

fn files(bill: &Bill, full: bool, room: usize) -> Rows {
    let heads = ["file", "time", "share", "opens", "syncs", "read", "written"];
    let mut rows = Rows::new(&heads, 1..heads.len(), 5);
    let some = |number: u64, text: String| if number == 0 { "–".to_owned() } else { text };
    for cost in shown(&bill.top_files, full, FILES, |file| file.share) {
        let FileCost { opens, read_bytes, written_bytes, syncs, .. } = *cost;
        rows.add([
            shortened(&file(bill, &cost.path), room),
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
