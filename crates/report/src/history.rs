//! Saved runs in a list: a line of facts, and the answer below it.

use anstyle::Style;
use model::printable::shortened;
use units::counted;

use crate::columns::{Cell, Table};
use crate::text::{self, Width};

/// What is below a run's name stands this far in.
const INDENT: &str = "          ";
/// The least that is left for what was measured.
const WHAT_MIN: usize = 12;

/// A run as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Its name, in short.
    pub name: &'a str,
    /// When it began, RFC 3339.
    pub started: &'a str,
    /// How long it took.
    pub seconds: f64,
    /// How it ended.
    pub ended: &'a str,
    /// What was measured, and where.
    pub what: &'a str,
    /// What it answered, in a few words.
    pub answer: &'a str,
}

/// The runs, and how many older ones are not listed.
pub fn history(runs: &[Listed<'_>], unlisted: usize, width: Width) -> String {
    let heads = ["name", "began (UTC)", "took", "ended", "what"];
    let rows = || runs.iter().map(facts);
    let mut narrow = Table::new(heads.map(Cell::dim));
    rows().for_each(|row| narrow.add_row(row.map(Cell::new)));
    let room = (width + WHAT_MIN).saturating_sub(narrow.width());
    let mut table = Table::new(heads.map(Cell::dim));
    for (row, run) in rows().zip(runs) {
        let [name, started, took, ended, _] = row;
        let what = shortened(run.what, room.max(WHAT_MIN)).into_owned();
        let name = Cell::new(name).styled(Style::new().bold());
        table.add_row([name].into_iter().chain([started, took, ended, what].map(Cell::new)));
    }
    table.align_right([2]);
    let facts = table.flush();
    let mut lines = facts.lines();
    let mut out = lines.next().map_or_else(String::new, |head| format!("{head}\n"));
    for (line, run) in lines.zip(runs) {
        out += &format!("{line}\n");
        if !run.answer.is_empty() {
            out += &text::paragraph(INDENT, INDENT, run.answer, width);
        }
    }
    if unlisted > 0 {
        out +=
            &format!("and {}; use --limit to list more\n", counted(unlisted as u64, "older run"));
    }
    out
}

/// The cells of a line; what was measured is shortened to what is left of the line.
fn facts(run: &Listed<'_>) -> [String; 5] {
    [
        run.name.to_owned(),
        minute(run.started),
        format!("{:.0} s", run.seconds),
        run.ended.to_owned(),
        shortened(run.what, WHAT_MIN).into_owned(),
    ]
}

/// `2026-11-22 21:59` of `2026-11-22T21:59:55Z`.
pub(crate) fn minute(rfc3339: &str) -> String {
    rfc3339.chars().take(16).collect::<String>().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_its_line_and_its_answer_within_the_width() {
        let run = Listed {
            name: "1a2b3c4d",
            started: "2026-11-22T21:59:55Z",
            seconds: 59.9,
            ended: "finished",
            what: "log, stream, page, cache, files, sqlite on disk, ram",
            answer: "do: sqlite 20.2 ms → 659 µs (wal-normal instead of delete-full, staying on \
                     disk); maybe (5); leave (3)",
        };
        let killed = Listed { ended: "killed\n", what: "log on a", answer: "", ..run };
        let text = history(&[run, killed], 7, 80);
        let plain = text.replace("\u{1b}[0m", "").replace("\u{1b}[1m", "").replace("\u{1b}[2m", "");
        let lines: Vec<&str> = plain.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{plain}");
        assert!(lines[1].starts_with("1a2b3c4d  2026-11-22 21:59  60 s  finished"), "{plain}");
        assert!(lines[1].ends_with('…') && lines[2].starts_with("          do: sqlite"), "{plain}");
        assert!(lines[4].contains("killed\\n") && lines[4].ends_with("log on a"), "{plain}");
        assert_eq!(lines.last().copied(), Some("and 7 older runs; use --limit to list more"));
    }
}
