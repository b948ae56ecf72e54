//! The answer in a few words, for a list of many runs.

use model::advice::Group;
use model::analysis::Analysis;
use model::run::Run;

use super::entry::{self, Entry};
use crate::subject::Subject;

/// The first of what is advised, and how much else there is of each group; where nothing is
/// compared, what was timed.
pub(crate) fn in_short(run: &Run, analysis: &Analysis) -> String {
    let entries = entry::all(Subject { run, analysis });
    if analysis.blocks == 0 {
        return "nothing was measured".to_owned();
    }
    if entries.iter().all(|entry| entry.advice.change.is_none()) {
        let times: Vec<String> =
            entries.iter().map(|entry| format!("{} {}", entry.name, entry.now())).collect();
        return times.join(", ");
    }
    let groups = [
        (Group::Do, "do"),
        (Group::OnlyIf, "on a condition"),
        (Group::Leave, "leave"),
        (Group::Undecided, "undecided"),
    ];
    let mut parts = Vec::new();
    for (group, word) in groups {
        let found: Vec<&Entry> = entries.iter().filter(|e| e.advice.group == group).collect();
        let Some(first) = found.first() else { continue };
        let told = parts.is_empty().then(|| change(first));
        parts.push(match (told, found.len()) {
            (Some(told), 1) => format!("{word}: {told}"),
            (Some(told), count) => format!("{word} ({count}): {told}"),
            (None, 1) => format!("{word}: {}", first.name),
            (None, count) => format!("{word} ({count})"),
        });
    }
    parts.join("; ")
}

/// `sqlite 20.2 ms → 659 µs (WAL, synchronous=NORMAL)`.
fn change(entry: &Entry) -> String {
    let (now, then) = (entry.now(), entry.then());
    format!("{} {now} → {then} ({})", entry.name, entry.change())
}
