//! A file is opened, written and closed for each record.

use super::{Evidence, OFTEN};
use crate::bill::{FileUse, Kind, text};
use crate::pattern::{Pattern, PatternKind};

/// Of the times that the file was opened, how many were for a record alone: with fewer, it is
/// mostly opened for something else.
const MOSTLY: f64 = 0.8;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    evidence
        .files()
        .filter(|(_, file)| is_reopened(file))
        .map(|file| found(evidence, file))
        .collect()
}

/// Whether a file is opened for each record that is written to it.
pub(super) fn is_reopened(file: &FileUse) -> bool {
    file.brief >= OFTEN && file.brief as f64 >= file.opens as f64 * MOSTLY
}

fn found(evidence: &Evidence<'_>, (path, file): (&[u8], &FileUse)) -> Pattern {
    let record_bytes = (file.written_bytes / file.brief).max(1);
    let per_second = evidence.per_second(file.brief);
    let synced = file.brief_synced as f64 >= file.brief as f64 * MOSTLY;
    let path = text(path);
    let what = PatternKind::Reopened { path, times: file.brief, record_bytes, per_second, synced };
    evidence.pattern(what, file.kind_ns(Kind::Open))
}
