//! What differs between two recordings: calls, syncs, bytes and time, by kind and folder.
//!
//! Counts and bytes are exact. Times are of one run each, so that nothing is decided from them.

use model::printable::printable;
use serde::Serialize;
use trace::Bill;
use units::{count, rough_size, time};

use super::figures::{COLUMNS, Figures};
use super::parts;
use crate::tables::{Section, Tables};

/// The version of the format.
const SCHEMA: &str = "iotoll.bill-diff/1";

/// Two recordings compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BillDiff {
    /// `iotoll.bill-diff/1`.
    pub schema: &'static str,
    /// The earlier program.
    pub before: String,
    /// The later program.
    pub after: String,
    /// What differs, all calls first, then kinds and folders, each in the order of the later
    /// recording.
    pub rows: Vec<Change>,
}

/// What changed of some file calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// `all`, `kind` or `folder`.
    pub of: &'static str,
    /// Which kind or folder.
    pub name: String,
    /// What it was; `null` for a folder that the earlier bill does not list.
    pub before: Option<Figures>,
    /// What it is; `null` likewise.
    pub after: Option<Figures>,
}

/// What differs between two recordings.
pub fn between(before: &Bill, after: &Bill) -> BillDiff {
    let [old, new] = [before, after].map(|bill| {
        let mut parts = parts(bill);
        // Of files there are only those with the most time, which may be others.
        parts.retain(|(of, ..)| *of != "file");
        parts
    });
    let find = |parts: &[(&'static str, String, Figures)], of: &str, name: &str| {
        let found = parts.iter().find(|(its, known, _)| *its == of && known == name);
        // A bill has every kind that there was, and of folders those that matter.
        let none = || (of != "folder").then(Figures::default);
        found.map(|(.., figures)| *figures).or_else(none)
    };
    let has = |parts: &[(&'static str, String, Figures)], of: &str, name: &str| {
        parts.iter().any(|(its, known, _)| *its == of && known == name)
    };
    let mut rows: Vec<Change> = Vec::new();
    for (of, name, after) in &new {
        let before = find(&old, of, name);
        rows.push(Change { of, name: name.clone(), before, after: Some(*after) });
    }
    for (of, name, before) in &old {
        if !has(&new, of, name) {
            let after = find(&new, of, name);
            rows.push(Change { of, name: name.clone(), before: Some(*before), after });
        }
    }
    rows.sort_by_key(|row| ["all", "kind", "folder"].iter().position(|of| *of == row.of));
    BillDiff {
        schema: SCHEMA,
        before: before.header.program.clone(),
        after: after.header.program.clone(),
        rows,
    }
}

impl BillDiff {
    /// As tables.
    pub fn tables(&self) -> Tables {
        let heads = |first| [first, "calls", "bytes", "time"];
        let section = |title, first, of: &'static str| {
            let rows = self.rows.iter().filter(move |row| row.of == of).map(Change::cells);
            Section::new(title, &heads(first), rows)
        };
        let [before, after] = [&self.before, &self.after].map(|name| printable(name).into_owned());
        Tables {
            title: format!("File calls of {before} and {after}"),
            lead: vec![
                self.sentence(),
                "Calls and bytes are exact. Times are of one run each: repeat both recordings \
                 before you rely on a difference."
                    .to_owned(),
            ],
            sections: vec![
                section("All file calls", "", "all"),
                section("By kind", "kind", "kind"),
                section("By folder", "folder", "folder"),
            ],
        }
    }

    /// All calls and the syncs, in a sentence.
    fn sentence(&self) -> String {
        let row = |of, name| self.rows.iter().find(|row| row.of == of && row.name == name);
        let calls = |row: Option<&Change>| {
            row.map_or("0".to_owned(), |row| row.changed(|figures| count(figures.calls)))
        };
        let times = row("all", "")
            .map_or(String::new(), |all| all.changed(|figures| time(figures.time_ns())));
        format!(
            "File calls: {}. Syncs: {}. Time in file calls: {times}.",
            calls(row("all", "")),
            calls(row("kind", "sync"))
        )
    }

    /// For a spreadsheet.
    pub(crate) fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let figures = |end: &str| COLUMNS.map(|(head, _)| format!("{head}_{end}")).into_iter();
        let heads = ["of", "name"].map(str::to_owned).into_iter();
        let heads = heads.chain(figures("before")).chain(figures("after")).collect();
        let rows = self.rows.iter().map(|row| {
            let name = [row.of.to_owned(), row.name.clone()].into_iter();
            let cells = |figures: Option<Figures>| {
                figures.map_or_else(Default::default, |figures| figures.cells())
            };
            name.chain(cells(row.before)).chain(cells(row.after)).collect()
        });
        (heads, rows.collect())
    }
}

impl Change {
    fn cells(&self) -> Vec<String> {
        vec![
            printable(&self.name).into_owned(),
            self.changed(|figures| count(figures.calls)),
            self.changed(|figures| rough_size(figures.bytes())),
            self.changed(|figures| time(figures.time_ns())),
        ]
    }

    /// `1,200 → 3`, or the one value that both have.
    fn changed(&self, of: impl Fn(&Figures) -> String) -> String {
        let of = |figures: &Option<Figures>| figures.as_ref().map_or("–".to_owned(), &of);
        let (before, after) = (of(&self.before), of(&self.after));
        if before == after { before } else { format!("{before} → {after}") }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use trace::planted::Planted;
    use trace::{Op, TraceReader, bill_of};

    use super::*;
    use crate::bill::command_of;

    fn bill(syncs: usize) -> Bill {
        let mut planted = Planted::new("/srv");
        planted.open("data/app.log", 0o2101, 3);
        for _ in 0..syncs {
            planted.moved(Op::Write, 3, 100, 1000);
            planted.on(Op::Fsync, 3, 1_000_000);
        }
        let trace = planted.finish();
        bill_of(&mut TraceReader::new(trace.as_slice()).unwrap(), command_of).unwrap()
    }

    #[test]
    fn two_recordings_are_compared_by_kind_and_folder() {
        let diff = between(&bill(10), &bill(2));
        let row = |name: &str| diff.rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!(row("sync").changed(|figures| count(figures.calls)), "10 → 2");
        assert_eq!(row("data/").changed(|figures| figures.bytes().to_string()), "1000 → 200");
        assert_eq!(row("open").changed(|figures| count(figures.calls)), "1");
        let text = diff.tables().markdown();
        assert!(text.contains("Syncs: 10 → 2."), "{text}");
        assert!(text.contains("| sync | 10 → 2 | 0 B | 10.0 ms → 2.00 ms |"), "{text}");
    }

    #[test]
    fn a_kind_that_is_gone_is_zero_and_a_folder_that_is_not_listed_is_not_known() {
        let mut gone = bill(2);
        gone.kinds.retain(|kind| kind.kind != trace::Kind::Sync);
        gone.folders.clear();
        let diff = between(&bill(2), &gone);
        let row = |name: &str| diff.rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!(row("sync").changed(|figures| count(figures.calls)), "2 → 0");
        assert_eq!(row("data/").changed(|figures| count(figures.calls)), "5 → –");
    }
}
