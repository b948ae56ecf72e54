//! Threads or processes wait for each other's locks.

use super::reopened::RECORD_BYTES_MAX;
use super::{Command, Evidence, OFTEN};
use crate::bill::{FileUse, Kind, above, text};
use crate::pattern::{Pattern, PatternKind};

/// A lock that is free takes well under a microsecond: with more on average, they wait.
const WAITED_NS: u64 = 5_000;
/// The most writers that the study `log` has.
const WRITERS_MAX: u64 = 64;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    evidence
        .files()
        .filter(|(_, file)| is_waited_for(file))
        .map(|file| found(evidence, file))
        .collect()
}

fn is_waited_for(file: &FileUse) -> bool {
    file.locks >= OFTEN && file.kind_ns(Kind::Lock) / file.locks >= WAITED_NS
}

fn found(evidence: &Evidence<'_>, (path, file): (&[u8], &FileUse)) -> Pattern {
    let threads = file.writers.len() as u64;
    let per_second = evidence.per_second(file.locks);
    // A file that is there to be locked has no records of its own.
    let record_bytes = file.written_bytes.checked_div(file.writes);
    let mut command =
        Command::new("log", "flock,held,per-writer").set("writers", threads.clamp(2, WRITERS_MAX));
    if let Some(bytes) = record_bytes {
        command = command.set("record", bytes.clamp(1, RECORD_BYTES_MAX));
    }
    let command = command.at(text(above(path))).per_second(per_second);
    let (path, longest_ns) = (text(path), file.longest_lock_ns);
    let what = PatternKind::Locks { path, locks: file.locks, threads, longest_ns, per_second };
    evidence.pattern(what, file.kind_ns(Kind::Lock), &command)
}
