//! Threads or processes wait for each other's locks.

use super::{Evidence, OFTEN};
use crate::bill::{FileUse, Kind, text};
use crate::pattern::{Pattern, PatternKind};

/// A lock that is free takes well under a microsecond: with more on average, they wait.
const WAITED_NS: u64 = 5_000;

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
    let record_bytes = file.written_bytes.checked_div(file.writes);
    let (path, locks, longest_ns) = (text(path), file.locks, file.longest_lock_ns);
    let what = PatternKind::Locks { path, locks, threads, longest_ns, per_second, record_bytes };
    evidence.pattern(what, file.kind_ns(Kind::Lock))
}
