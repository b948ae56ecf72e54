//! A file is forced to the device after each write.

use super::reopened::{RECORD_BYTES_MAX, is_reopened};
use super::{Command, Evidence, OFTEN};
use crate::bill::{FileUse, Kind, above, text};
use crate::pattern::{Pattern, PatternKind};

/// Of the syncs, how many follow a single write: with fewer, writes are gathered already.
const MOSTLY: f64 = 0.8;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    evidence.files().filter(|(_, file)| is_synced(file)).map(|file| found(evidence, file)).collect()
}

fn is_synced(file: &FileUse) -> bool {
    file.syncs_of_one >= OFTEN && file.syncs_of_one as f64 >= file.syncs as f64 * MOSTLY
}

fn found(evidence: &Evidence<'_>, (path, file): (&[u8], &FileUse)) -> Pattern {
    let record_bytes = (file.written_bytes / file.writes.max(1)).clamp(1, RECORD_BYTES_MAX);
    let per_second = evidence.per_second(file.syncs);
    let strategy = if is_reopened(file) { "reopen" } else { "held" };
    let command = Command::new("log", strategy)
        .set("sync", "each,every 100,never")
        .set("record", record_bytes)
        .at(text(above(path)))
        .per_second(per_second);
    let path = text(path);
    let what = PatternKind::SyncedEach { path, syncs: file.syncs, record_bytes, per_second };
    evidence.pattern(what, file.kind_ns(Kind::Sync), &command)
}
