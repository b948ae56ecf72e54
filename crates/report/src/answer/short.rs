//! The answer in a few words, for a list of many runs.

use model::analysis::{Advice, Analysis};
use model::run::Run;

use super::advice::{saves_ns, what};
use super::row::{self, Row};
use crate::subject::Subject;

/// The change that saves most of those advised, and how many others there are of each kind;
/// where nothing is compared, what was timed.
pub(crate) fn in_short(run: &Run, analysis: &Analysis) -> String {
    let rows = row::all(Subject { run, analysis });
    if analysis.blocks == 0 {
        return "nothing was measured".to_owned();
    }
    if rows.iter().all(|row| row.best().is_none()) {
        let typical_times: Vec<String> =
            rows.iter().map(|row| format!("{} {}", row.name, row.typical())).collect();
        return typical_times.join(", ");
    }
    let kinds = [
        (Advice::Do, "do"),
        (Advice::Maybe, "maybe"),
        (Advice::Leave, "leave"),
        (Advice::Undecided, "undecided"),
    ];
    let mut parts = Vec::new();
    let mut is_first = true;
    for (advice, name) in kinds {
        let mut found: Vec<&Row> = rows.iter().filter(|row| row.answer.advice == advice).collect();
        found.sort_by(|a, b| saves_ns(b).total_cmp(&saves_ns(a)));
        let Some(best) = found.first() else { continue };
        let told = if is_first { change(best) } else { None };
        is_first = false;
        parts.push(match (told, found.len()) {
            (Some(told), 1) => format!("{name}: {told}"),
            (Some(told), count) => format!("{name} ({count}): {told}"),
            (None, 1) => format!("{name}: {}", best.name),
            (None, count) => format!("{name} ({count})"),
        });
    }
    parts.join("; ")
}

/// `sqlite 20.2 ms → 659 µs by wal-normal instead of delete-full`.
fn change(row: &Row) -> Option<String> {
    let change = row.by()?;
    let (now, then) = (row.typical(), change.typical());
    Some(format!("{} {now} → {then} ({})", row.name, what(row, &change)))
}
