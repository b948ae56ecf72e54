//! What a bill adds up: by kind of call, by folder and by file.

use anstyle::Style;
use model::units::{count, percent, rough_size, time};
use trace::{Bill, FileCost, FolderCost, KindCost};

use super::names::{file, folder, share, shortened};
use super::opening::middle;
use crate::columns::{Cell, Table};
use crate::text::Width;

/// Rows of each table where not all of them are asked for.
const KINDS: usize = 5;
const FOLDERS: usize = 5;
const FILES: usize = 3;
/// Less of the time than this has no row then.
const SHOWN: f64 = 0.001;
/// What the other columns take at the most.
const OTHER_COLUMNS: usize = 54;
/// The least that is left for a name.
const NAME_MIN: usize = 16;

pub(super) fn all(bill: &Bill, full: bool, width: Width) -> String {
    let room = width.saturating_sub(OTHER_COLUMNS).max(NAME_MIN);
    let tables = [kinds(bill, full, room), folders(bill, full, room), files(bill, full, room)];
    let texts = tables.into_iter().flatten().map(|table| format!("\n{}", table.flush()));
    texts.collect()
}

fn table(heads: &[&str], right: std::ops::Range<usize>) -> Table {
    let mut table = Table::new(heads.iter().map(|head| dim(head)));
    table.align_right(right);
    table
}

fn dim(text: &str) -> Cell {
    Cell::new(text).styled(Style::new().dimmed())
}

/// The rows that are shown, if there are any.
fn shown<T>(rows: &[T], full: bool, rows_max: usize, share: fn(&T) -> f64) -> Option<&[T]> {
    let matter = rows.iter().take_while(|row| full || share(row) >= SHOWN).count();
    let rows = &rows[..if full { matter } else { matter.min(rows_max) }];
    (!rows.is_empty()).then_some(rows)
}

fn kinds(bill: &Bill, full: bool, room: usize) -> Option<Table> {
    let rows = shown(&bill.kinds, full, KINDS, |kind| kind.cost.share.high)?;
    let mut table = table(&["time spent", "calls", "time", "share", "where"], 1..4);
    for KindCost { kind, cost, folder: place } in rows {
        let place = place.as_ref().map_or(String::new(), |path| folder(bill, path));
        table.add_row([
            Cell::new(kind.doing()),
            Cell::new(count(cost.calls)),
            Cell::new(time(middle(cost.once_ns))),
            Cell::new(share(cost.share)),
            Cell::new(shortened(&place, room)),
        ]);
    }
    Some(table)
}

fn folders(bill: &Bill, full: bool, room: usize) -> Option<Table> {
    let rows = shown(&bill.folders, full, FOLDERS, |folder| folder.cost.share.high)?;
    let mut table = table(&["folder", "calls", "time", "share", "mostly"], 1..4);
    for FolderCost { path, cost, most, most_share: _ } in rows {
        table.add_row([
            Cell::new(shortened(&folder(bill, path), room)),
            Cell::new(count(cost.calls)),
            Cell::new(time(middle(cost.once_ns))),
            Cell::new(share(cost.share)),
            Cell::new(most.doing()),
        ]);
    }
    Some(table)
}

fn files(bill: &Bill, full: bool, room: usize) -> Option<Table> {
    let rows = shown(&bill.top_files, full, FILES, |file| file.share)?;
    let heads = ["file", "opens", "read", "written", "syncs", "time", "share"];
    let mut table = table(&heads, 1..heads.len());
    let some = |number: u64, text: String| if number == 0 { "–".to_owned() } else { text };
    for cost in rows {
        let FileCost { opens, read_bytes, written_bytes, syncs, .. } = *cost;
        table.add_row([
            Cell::new(shortened(&file(bill, &cost.path), room)),
            Cell::new(some(opens, count(opens))),
            Cell::new(some(read_bytes, rough_size(read_bytes))),
            Cell::new(some(written_bytes, rough_size(written_bytes))),
            Cell::new(some(syncs, count(syncs))),
            Cell::new(time(cost.summed_ns as f64)),
            Cell::new(percent(cost.share)),
        ]);
    }
    Some(table)
}
