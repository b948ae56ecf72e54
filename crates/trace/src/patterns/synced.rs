//! A file is forced to the device after each write.
//!
//! Files of one folder whose names differ in numbers alone are one: the segments of a log.

use std::collections::BTreeMap;

use super::reopened::is_reopened;
use super::{Evidence, OFTEN};
use crate::bill::{FileUse, text};
use crate::pattern::{Pattern, PatternKind};

/// Of the syncs, how many follow a single write: with fewer, writes are gathered already.
const MOSTLY: f64 = 0.8;
/// From so many letters and digits on, what looks like a hexadecimal number is one.
const HEX_LEN: usize = 8;

/// What was done with a file, or with all files of one series.
#[derive(Default)]
struct Series {
    path: Vec<u8>,
    files: u64,
    syncs: u64,
    syncs_of_one: u64,
    writes: u64,
    written_bytes: u64,
    sync_ns: u64,
    renamed: u64,
    reopened: bool,
}

impl Series {
    fn add(&mut self, path: &[u8], file: &FileUse) {
        self.path = path.to_vec();
        self.files += 1;
        self.syncs += file.syncs;
        self.syncs_of_one += file.syncs_of_one;
        self.writes += file.writes;
        self.written_bytes = self.written_bytes.saturating_add(file.written_bytes);
        self.sync_ns = self.sync_ns.saturating_add(file.forced_ns());
        self.renamed += file.renamed;
        self.reopened |= is_reopened(file);
    }

    /// Whether each sync is of a file of its own, or of one that then takes the place of another. Such
    /// syncs cannot be gathered.
    fn is_of_whole_files(&self) -> bool {
        self.files.max(self.renamed) as f64 >= self.syncs as f64 * MOSTLY
    }

    fn is_synced(&self) -> bool {
        self.syncs_of_one >= OFTEN && self.syncs_of_one as f64 >= self.syncs as f64 * MOSTLY
    }
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    let mut all: BTreeMap<Vec<u8>, Series> = BTreeMap::new();
    for (path, file) in evidence.files().filter(|(_, file)| file.syncs > 0) {
        all.entry(series_of(path)).or_default().add(path, file);
    }
    all.into_iter()
        .filter(|(_, series)| series.is_synced())
        .map(|(name, series)| found(evidence, &name, &series))
        .collect()
}

fn found(evidence: &Evidence<'_>, name: &[u8], series: &Series) -> Pattern {
    let record_bytes = (series.written_bytes / series.writes.max(1)).max(1);
    let per_second = evidence.per_second(series.syncs);
    let path = text(if series.files == 1 { &series.path } else { name });
    let what = PatternKind::SyncedEach {
        path,
        syncs: series.syncs,
        record_bytes,
        per_second,
        reopened: series.reopened,
        whole_files: series.is_of_whole_files(),
    };
    evidence.pattern(what, series.sync_ns)
}

/// A path with a star for each number in the file's name.
fn series_of(path: &[u8]) -> Vec<u8> {
    let begin = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let mut series = path[..begin].to_vec();
    let mut rest = &path[begin..];
    while let Some(first) = rest.first() {
        let len_of = |is: fn(&u8) -> bool| rest.iter().take_while(|byte| is(byte)).count();
        let (digits, hex) = (len_of(u8::is_ascii_digit), len_of(u8::is_ascii_hexdigit));
        let number = if hex >= HEX_LEN { hex } else { digits };
        series.push(if number > 0 { b'*' } else { *first });
        rest = &rest[number.max(1)..];
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_a_log_are_one_series() {
        for (path, expected) in [
            ("/pg_wal/00000001000000000000002A", "/pg_wal/*"),
            ("/1/log.17.aof", "/1/log.*.aof"),
            ("/data/app.log", "/data/app.log"),
            ("/feed", "/feed"),
        ] {
            assert_eq!(text(series_of(path.as_bytes())), expected);
        }
    }
}
