//! A file that is kept open is written a few bytes at a time.

use super::Evidence;
use super::reopened::is_reopened;
use crate::bill::{FileUse, Kind, text};
use crate::pattern::{Pattern, PatternKind};

/// A write of so little costs its call and hardly its bytes: copying 512 bytes takes some 20 ns,
/// and a write(2) some 700 ns.
const SMALL_BYTES: u64 = 512;
/// With fewer writes, a buffer has little to gather.
const MANY: u64 = 1000;
/// Of the writes, how many go on where the one before stopped: others cannot be gathered.
const MOSTLY: f64 = 0.9;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    evidence.files().filter(|(_, file)| is_small(file)).map(|file| found(evidence, file)).collect()
}

fn is_small(file: &FileUse) -> bool {
    file.writes >= MANY
        && file.written_bytes / file.writes <= SMALL_BYTES
        && file.writes_in_order as f64 >= file.writes as f64 * MOSTLY
        // What is forced to the device each time, or is closed, is another pattern.
        && file.syncs * 10 < file.writes
        && !is_reopened(file)
}

fn found(evidence: &Evidence<'_>, (path, file): (&[u8], &FileUse)) -> Pattern {
    let write_bytes = (file.written_bytes / file.writes).max(1);
    let per_second = evidence.per_second(file.writes);
    let path = text(path);
    let what = PatternKind::SmallWrites { path, writes: file.writes, write_bytes, per_second };
    evidence.pattern(what, file.kind_ns(Kind::Write))
}
