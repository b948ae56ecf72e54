//! The study's names and numbers, as the user meets them.

use model::guarantee::Guarantee;
use model::study::{Better, FigureSpec, Fold, Is, ParamKind, ParamSpec, StudySpec, Unit};

use crate::choices::{choices, strategies};
use crate::rules::{relies, where_set};

/// How many rows a template has at the most.
const ROWS_MAX: u64 = 100_000;

pub(crate) const SAFE: &str = "power failure: nothing committed is lost";
// A transaction ends when its journal is deleted, and at this level SQLite does not sync the
// folder that it is deleted from: https://www.sqlite.org/pragma.html#pragma_synchronous
pub(crate) const LAST: &str =
    "power failure: the latest transaction may be undone, and nothing else";
pub(crate) const UNDONE: &str =
    "power failure: the latest requests may be undone, and nothing else";
pub(crate) const BROKEN: &str = "power failure: the database may be corrupted";

strategies! {
    /// What SQLite is told: the journal mode, how far it waits for the device, and
    /// whether a request is one transaction.
    pub(crate) enum Strategy {
        DeleteFull = "delete-full", by_default,
            "SQLite's default: each statement creates, syncs and deletes a rollback journal", LAST;
        DeleteFullTx = "delete-full-tx", by_default,
            "as delete-full, with all of a request in one transaction", LAST;
        WalNormal = "wal-normal", by_default,
            "a write-ahead log, synced at checkpoints", UNDONE;
        WalNormalTx = "wal-normal-tx", by_name,
            "as wal-normal, with all of a request in one transaction", UNDONE;
        WalFull = "wal-full", by_name,
            "a write-ahead log, synced by each statement", SAFE;
        WalFullTx = "wal-full-tx", by_name,
            "as wal-full, with all of a request in one transaction", SAFE;
        TruncateFull = "truncate-full", by_name,
            "as delete-full, with the journal truncated instead of deleted", SAFE;
        TruncateFullTx = "truncate-full-tx", by_name,
            "as truncate-full, with all of a request in one transaction", SAFE;
        DeleteNormal = "delete-normal", by_name,
            "as delete-full, syncing less often", BROKEN;
        DeleteOff = "delete-off", by_name,
            "as delete-full, never syncing", BROKEN;
        Off = "off", by_name,
            "no journal, never syncing: a statement that fails corrupts data", BROKEN;
        OffTx = "off-tx", by_name,
            "as off, with all of a request in one transaction", BROKEN;
    }
}

choices! {
    /// When a connection is made.
    pub(crate) enum Connect {
        /// Once, for all requests.
        Once = "once",
        /// By each request.
        Request = "request",
    }
}

/// A strategy as SQLite is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    pub(crate) journal: &'static str,
    pub(crate) synchronous: &'static str,
    /// Whether a request is one transaction, or each of its statements is.
    pub(crate) one_transaction: bool,
}

/// What a strategy lets a power failure do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtPowerFailure {
    LosesNothing,
    LosesTheLast,
    LosesTheLatest,
    Breaks,
}

impl Strategy {
    /// What its promise comes to.
    pub(crate) fn at_power_failure(self) -> AtPowerFailure {
        match Self::SPECS[self as usize].promise {
            SAFE => AtPowerFailure::LosesNothing,
            LAST => AtPowerFailure::LosesTheLast,
            UNDONE => AtPowerFailure::LosesTheLatest,
            _ => AtPowerFailure::Breaks,
        }
    }

    /// What SQLite is told.
    pub(crate) const fn mode(self) -> Mode {
        let (journal, synchronous, one_transaction) = match self {
            Self::DeleteFull => ("delete", "full", false),
            Self::DeleteFullTx => ("delete", "full", true),
            Self::WalNormal => ("wal", "normal", false),
            Self::WalNormalTx => ("wal", "normal", true),
            Self::WalFull => ("wal", "full", false),
            Self::WalFullTx => ("wal", "full", true),
            Self::TruncateFull => ("truncate", "full", false),
            Self::TruncateFullTx => ("truncate", "full", true),
            Self::DeleteNormal => ("delete", "normal", false),
            Self::DeleteOff => ("delete", "off", false),
            Self::Off => ("off", "off", false),
            Self::OffTx => ("off", "off", true),
        };
        Mode { journal, synchronous, one_transaction }
    }

    /// Whether it writes ahead to a log.
    pub(crate) const fn is_wal(self) -> bool {
        matches!(self, Self::WalNormal | Self::WalNormalTx | Self::WalFull | Self::WalFullTx)
    }
}

pub(crate) const ROWS: ParamSpec = ParamSpec {
    name: "rows",
    about: "rows in the table before the first request",
    kind: ParamKind::Count { min: 10, max: ROWS_MAX },
    default: "100",
};

pub(crate) static SPEC: StudySpec = StudySpec {
    name: "sqlite",
    about: "answer a request from a SQLite database",
    operation: "request",
    compared: &["connect"],
    strategies: Strategy::SPECS,
    relies_on: &[relies(Guarantee::FcntlLocks, &[], &[])],
    applies: &[where_set(&["rows"], &[("database", Is::OneOf(&[""]))])],
    params: &[
        ROWS,
        ParamSpec {
            name: "database",
            about: "a SQLite database of your own, of which each slice gets a copy",
            kind: ParamKind::Path("a file, or empty to use a generated database"),
            default: "",
        },
        ParamSpec {
            name: "statements",
            about: "with database: a file of the SQL statements that a request makes to it",
            kind: ParamKind::Path("a file, or empty to use the statements of the study"),
            default: "",
        },
        ParamSpec {
            name: "connections",
            about: "connections that make requests at the same time, each in a thread",
            kind: ParamKind::Count { min: 1, max: 64 },
            default: "1",
        },
        ParamSpec {
            name: "connect",
            about: "whether a connection is made once, or by each request as in PHP",
            kind: ParamKind::Choice(Connect::NAMES),
            default: "once",
        },
    ],
    figures: &[
        FigureSpec {
            name: "syncs_per_request",
            title: "syncs",
            about: "how often SQLite forced data to the device",
            unit: Unit::Count,
            better: Better::Less,
            fold: Fold::PerOperation,
            shown: true,
        },
        FigureSpec {
            name: "written_bytes_per_request",
            title: "written",
            about: "what SQLite wrote to its files",
            unit: Unit::Bytes,
            better: Better::Less,
            fold: Fold::PerOperation,
            shown: true,
        },
        FigureSpec {
            name: "requests_per_s",
            title: "requests/s",
            about: "requests answered per second, all connections together",
            unit: Unit::PerSecond,
            better: Better::More,
            fold: Fold::Mean,
            shown: true,
        },
    ],
    ..StudySpec::EMPTY
};
