//! A database of SQLite: how it keeps its transactions whole, and how large they are.
//!
//! It is known by the files beside it, `-journal`, `-wal` and `-shm`, and by the bytes that
//! SQLite locks. How often it commits is told by the lock of the one who writes, and where locks
//! were not seen, by how a journal ends: deleted, cut to nothing, or overwritten with zeros.

use std::collections::BTreeMap;

use super::{Evidence, OFTEN};
use crate::bill::{FileUse, Uses, text};
use crate::pattern::{Database, Journal, Pattern, PatternKind};

/// The suffixes of the files beside a database.
pub(crate) const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Databases by their paths.
pub(crate) struct Databases<'a>(BTreeMap<&'a [u8], &'a FileUse>);

impl Databases<'_> {
    /// Whether a file is a database or beside one.
    pub(super) fn have(&self, path: &[u8]) -> bool {
        let base = BESIDE.iter().find_map(|suffix| path.strip_suffix(suffix.as_bytes()));
        self.0.contains_key(path) || base.is_some_and(|base| self.0.contains_key(base))
    }
}

/// All databases that were used.
pub(super) fn databases(uses: &Uses) -> Databases<'_> {
    let beside = |path: &[u8], suffix: &str| uses.get(&[path, suffix.as_bytes()].concat());
    let is_database = |path: &[u8], file: &FileUse| {
        if BESIDE.iter().any(|suffix| path.ends_with(suffix.as_bytes())) {
            return false;
        }
        // SQLite asks for both of them whenever it opens a database.
        let asked = ["-journal", "-wal"].map(|suffix| beside(path, suffix));
        let is_written = |file: &FileUse| file.writes + file.sqlite_writer_locks > 0;
        file.sqlite_writer_locks > 0
            || asked[0].is_some_and(is_written) && file.writes > 0
            || asked[1].is_some_and(is_written) && beside(path, "-shm").is_some()
    };
    Databases(uses.files().filter(|(path, file)| is_database(path, file)).collect())
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Pattern> {
    evidence.databases.0.iter().filter_map(|(path, file)| found(evidence, path, file)).collect()
}

fn found(evidence: &Evidence<'_>, path: &[u8], database: &FileUse) -> Option<Pattern> {
    let [journal, log, index] =
        BESIDE.map(|suffix| evidence.uses.get(&[path, suffix.as_bytes()].concat()));
    let of = |file: Option<&FileUse>, what: fn(&FileUse) -> u64| file.map_or(0, what);
    let all = |what: fn(&FileUse) -> u64| {
        let beside = [journal, log, index].map(|file| of(file, what));
        beside.into_iter().fold(what(database), u64::saturating_add)
    };
    let mode = mode(journal, log);
    let transactions = if mode == Journal::Wal {
        of(index, |file| file.sqlite_writer_locks).max(of(log, |file| file.syncs))
    } else {
        let ended = [|f: &FileUse| f.removed, |f: &FileUse| f.emptied, |f: &FileUse| f.zeroed];
        ended.map(|how| of(journal, how)).into_iter().fold(database.sqlite_writer_locks, u64::max)
    };
    if transactions < OFTEN {
        return None;
    }
    let each = |count: u64| count as f64 / transactions as f64;
    let what = PatternKind::Sqlite(Database {
        path: text(path),
        journal: mode,
        transactions,
        opens: database.opens,
        writes_per_transaction: each(all(|file| file.writes)),
        syncs_per_transaction: each(all(|file| file.syncs)),
        per_second: evidence.per_second(transactions),
    });
    Some(evidence.pattern(what, all(FileUse::all_ns)))
}

fn mode(journal: Option<&FileUse>, log: Option<&FileUse>) -> Journal {
    if log.is_some_and(|log| log.writes > 0) {
        return Journal::Wal;
    }
    let Some(journal) = journal.filter(|journal| journal.writes > 0) else { return Journal::None };
    let FileUse { removed, emptied, zeroed, .. } = journal;
    if removed.max(emptied) < zeroed {
        Journal::Persist
    } else if removed < emptied {
        Journal::Truncate
    } else {
        Journal::Delete
    }
}
