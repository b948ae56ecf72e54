//! A recording in other forms than a screen: tables for Markdown, a page and a spreadsheet; and
//! what differs between two.

mod change;
mod figures;

use model::printable::printable;
use trace::{Bill, Kind};
use units::{count, percent, rough_size, time};

pub use self::change::{BillDiff, between};
use self::figures::COLUMNS;
pub use self::figures::Figures;
use crate::bill::{doing, folder, opening};
use crate::tables::{Section, Tables};

/// The bill as tables.
pub fn tables(bill: &Bill) -> Tables {
    let kinds = bill.kinds.iter().map(|kind| {
        let place = kind.folder.as_ref().map_or(String::new(), |path| folder(bill, path));
        let name = doing(kind.kind, kind.cost.mostly_waits(), kind.cost.mostly_waits_for());
        cells(&name, Figures::of(&kind.cost), &place)
    });
    let folders = bill.folders.iter().map(|cost| {
        let mostly = doing(cost.most, cost.most_waits, cost.most_waits_for);
        cells(&folder(bill, &cost.path), Figures::of(&cost.cost), &mostly)
    });
    let files = bill.top_files.iter().map(|file| {
        vec![
            printable(&file.path).into_owned(),
            count(file.calls),
            count(file.opens),
            count(file.syncs),
            rough_size(file.read_bytes),
            rough_size(file.written_bytes),
            time(file.summed_ns as f64),
            percent(file.share),
        ]
    });
    let heads = ["calls", "failed", "read", "written", "time", "share"];
    let heads = |first, last| [&[first], &heads[..], &[last]].concat();
    Tables {
        title: format!("File calls of {}", printable(&bill.header.program)),
        lead: vec![opening::sentence(bill), opening::facts(bill)],
        sections: vec![
            Section::new("By kind", &heads("time spent", "where"), kinds).ending_in_words(),
            Section::new("By folder", &heads("folder", "mostly"), folders).ending_in_words(),
            Section::new(
                "By file",
                &["file", "calls", "opens", "syncs", "read", "written", "time", "share"],
                files,
            ),
        ],
    }
}

fn cells(name: &str, figures: Figures, last: &str) -> Vec<String> {
    vec![
        printable(name).into_owned(),
        count(figures.calls),
        count(figures.failed),
        rough_size(figures.read_bytes),
        rough_size(figures.written_bytes),
        time(figures.time_ns()),
        percent(f64::midpoint(figures.share_low, figures.share_high)),
        printable(last).into_owned(),
    ]
}

/// The heads of the bill's rows in a spreadsheet: what a row is of, and its figures.
const HEADS: [&str; 2] = ["of", "name"];

/// The bill for a spreadsheet: a row for all, for each kind, folder and file.
pub(crate) fn rows(bill: &Bill) -> (Vec<String>, Vec<Vec<String>>) {
    let heads = HEADS.into_iter().chain(COLUMNS.map(|(head, _)| head)).map(str::to_owned).collect();
    let rows = parts(bill).into_iter().map(|(of, name, figures)| {
        [of.to_owned(), name].into_iter().chain(figures.cells()).collect()
    });
    (heads, rows.collect())
}

/// All that a bill adds up, with what each is of and its name.
fn parts(bill: &Bill) -> Vec<(&'static str, String, Figures)> {
    let mut parts = vec![("all", String::new(), Figures::of(&bill.files))];
    let kinds = bill.kinds.iter();
    parts.extend(kinds.map(|kind| ("kind", name(kind.kind), Figures::of(&kind.cost))));
    let folders = bill.folders.iter();
    parts.extend(folders.map(|it| ("folder", folder(bill, &it.path), Figures::of(&it.cost))));
    parts.extend(bill.top_files.iter().map(|file| ("file", file.path.clone(), file.into())));
    parts
}

/// A kind's name, as in JSON.
fn name(kind: Kind) -> String {
    format!("{kind:?}").to_lowercase()
}
