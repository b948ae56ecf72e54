//! What a program does with its files that may pay to be done another way.

use serde::Serialize;

/// A pattern that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pattern {
    /// Which one, in the program's own numbers.
    #[serde(flatten)]
    pub what: PatternKind,
    /// How long the calls took that are meant, those of threads in parallel added up.
    pub summed_ns: u64,
    /// This as a share of the time in which the program was busy, 1 at the most.
    pub share: f64,
    /// What compares it with what could be done instead, to be pasted into a shell; empty where the answer
    /// is known beforehand.
    pub command: String,
}

/// What names the command that answers a pattern, run from this working folder.
pub type CommandOf = fn(&PatternKind, Option<&str>) -> String;

/// Which pattern.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "pattern", rename_all = "kebab-case")]
pub enum PatternKind {
    /// A file is opened, written and closed for each record.
    Reopened {
        /// The file.
        path: String,
        /// How often.
        times: u64,
        /// A record's size, on average.
        record_bytes: u64,
        /// How many records a second.
        per_second: f64,
        /// Whether each is forced to the device.
        synced: bool,
    },
    /// A file is forced to the device after each write.
    SyncedEach {
        /// The file.
        path: String,
        /// How often.
        syncs: u64,
        /// A write's size, on average.
        record_bytes: u64,
        /// How many syncs a second.
        per_second: f64,
        /// Whether the file is opened for each of them.
        #[serde(skip)]
        reopened: bool,
        /// Whether each is of a file of its own, or of one that then takes the place of another.
        #[serde(skip)]
        whole_files: bool,
    },
    /// A file is written a few bytes at a time.
    SmallWrites {
        /// The file.
        path: String,
        /// How many writes.
        writes: u64,
        /// Their size, on average.
        write_bytes: u64,
        /// How many a second.
        per_second: f64,
    },
    /// New contents are written under another name, and renamed over the old file without a sync.
    Replaced {
        /// The file, or the folder with all of them.
        path: String,
        /// How many files.
        files: u64,
        /// How often a file was replaced, all of them together.
        times: u64,
        /// A new file's size, on average.
        file_bytes: u64,
        /// How many replacements a second.
        per_second: f64,
    },
    /// Files are opened and read although they were before and have not changed.
    ReadAgain {
        /// The file, or the folder with all of them.
        path: String,
        /// How many files.
        files: u64,
        /// How often a file was read again, all of them together.
        times: u64,
        /// What one reading of all of them comes to.
        total_bytes: u64,
        /// How often a second each was read again, on average.
        per_second: f64,
    },
    /// Names are looked up again and again.
    Looks {
        /// The folder with nearly all of them.
        path: String,
        /// How often.
        looks: u64,
        /// How many of these were for names that had been looked up before.
        again: u64,
        /// How many found nothing.
        missing: u64,
        /// How many times a name was looked for, or opened, in a folder that does not have it, and
        /// was found in another one: a search path.
        searched: u64,
        /// How many a second.
        per_second: f64,
    },
    /// Threads or processes wait for a lock.
    Locks {
        /// The file.
        path: String,
        /// How many locks were taken.
        locks: u64,
        /// How many threads took them.
        threads: u64,
        /// The longest wait.
        longest_ns: u64,
        /// How many locks a second.
        per_second: f64,
        /// A write's size, on average; none for a file that is there to be locked.
        #[serde(skip)]
        record_bytes: Option<u64>,
    },
    /// A database of SQLite is written to.
    Sqlite(Database),
}

/// What is done with a database of SQLite.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Database {
    /// Its file.
    pub path: String,
    /// How its transactions are kept whole.
    pub journal: Journal,
    /// How many transactions.
    pub transactions: u64,
    /// How many times it was opened, as by each request of a program that keeps no connection.
    pub opens: u64,
    /// Writes per transaction, to the database and its journal.
    pub writes_per_transaction: f64,
    /// Syncs per transaction.
    pub syncs_per_transaction: f64,
    /// How many transactions a second.
    pub per_second: f64,
}

/// How a database keeps its transactions whole (`PRAGMA journal_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Journal {
    /// A rollback journal that is deleted when a transaction ends.
    Delete,
    /// One that is cut to nothing.
    Truncate,
    /// One whose beginning is overwritten.
    Persist,
    /// A write-ahead log.
    Wal,
    /// None in a file: in memory, or none at all.
    None,
}

impl Journal {
    /// As the pragma calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Truncate => "truncate",
            Self::Persist => "persist",
            Self::Wal => "wal",
            Self::None => "off or memory",
        }
    }
}
