//! A file is forced to the device after each write.

use super::reopened::is_reopened;
use super::{Evidence, OFTEN};
use crate::bill::{FileUse, Kind, text};
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
    let record_bytes = (file.written_bytes / file.writes.max(1)).max(1);
    let per_second = evidence.per_second(file.syncs);
    let (path, reopened) = (text(path), is_reopened(file));
    let what =
        PatternKind::SyncedEach { path, syncs: file.syncs, record_bytes, per_second, reopened };
    evidence.pattern(what, file.kind_ns(Kind::Sync))
}
