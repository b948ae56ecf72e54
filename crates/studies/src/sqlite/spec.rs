//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;

use model::case::Case;
use model::strategy::Recipe;
use model::study::{ParamDescription, ParamKind, StudyDescription};

use crate::choices::{choices, strategies};
use crate::rules::{is, where_set};
use crate::specs::{bytes, choice, count, figure, param, per_operation, per_second};

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
    /// How SQLite is used: the journal mode, how far it waits for the device, and
    /// whether a request is one transaction.
    pub(crate) enum Strategy {
        DeleteFull = "delete-full", by_default {
            label: "journal_mode=DELETE",
            about: "SQLite's default: each statement creates, syncs and deletes a rollback journal",
            promises: LAST, syncs: Always, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::DeleteFull),
        }
        DeleteFullTx = "delete-full-tx", by_default {
            label: "one transaction per request",
            about: "as delete-full, with all of a request in one transaction",
            promises: LAST, syncs: Always, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::DeleteFullTx),
        }
        WalNormal = "wal-normal", by_default {
            label: "WAL, synchronous=NORMAL",
            about: "a write-ahead log, synced at checkpoints",
            promises: UNDONE, syncs: Never, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::WalNormal),
        }
        WalNormalTx = "wal-normal-tx", by_name {
            label: "WAL, NORMAL, one transaction",
            about: "as wal-normal, with all of a request in one transaction",
            promises: UNDONE, syncs: Never, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::WalNormalTx),
        }
        WalFull = "wal-full", by_name {
            label: "WAL, synchronous=FULL",
            about: "a write-ahead log, synced by each statement",
            promises: SAFE, syncs: Always, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::WalFull),
        }
        WalFullTx = "wal-full-tx", by_name {
            label: "WAL, FULL, one transaction",
            about: "as wal-full, with all of a request in one transaction",
            promises: SAFE, syncs: Always, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::WalFullTx),
        }
        TruncateFull = "truncate-full", by_name {
            label: "journal_mode=TRUNCATE",
            about: "as delete-full, with the journal truncated instead of deleted",
            promises: SAFE, syncs: Always, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::TruncateFull),
        }
        TruncateFullTx = "truncate-full-tx", by_name {
            label: "TRUNCATE, one transaction",
            about: "as truncate-full, with all of a request in one transaction",
            promises: SAFE, syncs: Always, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::TruncateFullTx),
        }
        DeleteNormal = "delete-normal", by_name {
            label: "DELETE, synchronous=NORMAL",
            about: "as delete-full, syncing less often",
            promises: BROKEN, syncs: Always, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::DeleteNormal),
        }
        DeleteOff = "delete-off", by_name {
            label: "DELETE, synchronous=OFF",
            about: "as delete-full, never syncing",
            promises: BROKEN, syncs: Never, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: pragmas(Strategy::DeleteOff),
        }
        Off = "off", by_name {
            label: "no journal, synchronous=OFF",
            about: "no journal, never syncing: a statement that fails corrupts data",
            promises: BROKEN, syncs: Never, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: Recipe::Control,
        }
        OffTx = "off-tx", by_name {
            label: "no journal, OFF, one transaction",
            about: "as off, with all of a request in one transaction",
            promises: BROKEN, syncs: Never, relies_on: [FcntlLocks], params: [], needs: None,
            recipe: Recipe::Control,
        }
    }
}

/// What to type for a strategy.
fn pragmas(strategy: Strategy) -> Recipe {
    let Mode { journal, synchronous, one_transaction } = strategy.mode();
    let level = ["off", "normal", "full"].iter().position(|known| *known == synchronous);
    let (kept, set) = (journal.to_uppercase(), synchronous.to_uppercase());
    let once = if strategy.is_wal() { "once, for it stays with the file; " } else { "" };
    let pragmas =
        format!("PRAGMA journal_mode={kept}; {once}PRAGMA synchronous={set}; on each connection");
    let check = format!(
        "PRAGMA journal_mode; prints {journal}, PRAGMA synchronous; prints {}",
        level.unwrap_or_default()
    );
    let undo = "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;".to_owned();
    if !one_transaction {
        return Recipe::Change { adopt: pragmas, check, undo };
    }
    let begin = "BEGIN IMMEDIATE before a request's first statement, COMMIT after its last. Others \
                 that write wait meanwhile: PRAGMA busy_timeout=5000; on each connection";
    let apart = "take BEGIN and COMMIT out again: each statement is a transaction";
    let (adopt, undo) = if strategy == Strategy::DeleteFullTx {
        let defaults = "SQLite's defaults, journal_mode=DELETE and synchronous=FULL";
        (format!("{begin}. No other is needed with {defaults}"), apart.to_owned())
    } else {
        (format!("{begin}. {pragmas}"), format!("{apart}. {undo}"))
    };
    let syncs = "strace -f -e fsync,fdatasync -p PID shows syncs once a request";
    Recipe::Change { adopt, check: format!("{check}; {syncs}"), undo }
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
        match Self::descriptions()[self as usize].promise.as_str() {
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

/// How large a generated database is.
pub(crate) fn rows() -> ParamDescription {
    param("rows", "rows in the table before the first request", count(10, ROWS_MAX, "100"))
}

pub(super) const CASES: &[Case] = &[
    Case::of("delete-full", &[]).calls_fail().killed().footprint(4),
    Case::of("wal-normal", &[]).calls_fail().footprint(20),
    Case::of("wal-full-tx", &[("connect", "request")]).calls_fail(),
    Case::of("truncate-full", &[("connections", "2")]).calls_fail(),
    Case::of("wal-full", &[]).killed(),
    cut("delete-full", 6),
    cut("delete-full-tx", 40),
    cut("truncate-full", 6),
    cut("truncate-full-tx", 40),
    cut("wal-full", 12),
    cut("wal-full-tx", 100),
    cut("wal-normal", 120),
    cut("wal-normal-tx", 300),
    cut("delete-normal", 6),
    cut("delete-off", 30),
    cut("off", 30),
    cut("off-tx", 100),
];

const fn cut(strategy: &'static str, operations: u64) -> Case {
    Case::of(strategy, &[("rows", "60")]).power_cut(operations)
}

pub(crate) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        compared: vec!["connect"],
        applies_when: vec![where_set(&["rows"], [is("database", &[""])])],
        params: vec![
            rows(),
            param(
                "database",
                "a SQLite database of your own, of which each slice gets a copy",
                (ParamKind::Path("a file, or empty to use a generated database"), ""),
            ),
            param(
                "statements",
                "with database: a file of the SQL statements that a request makes to it; without one, \
                 a request is made of its tables",
                (ParamKind::Path("a file, or empty to use generated statements"), ""),
            ),
            param(
                "connections",
                "connections that make requests at the same time, each in a thread",
                count(1, 64, "1"),
            ),
            param(
                "connect",
                "whether a connection is made once, or by each request as in PHP",
                choice(Connect::NAMES, "once"),
            ),
        ],
        figures: vec![
            per_operation(figure(
                "syncs_per_request",
                "syncs",
                "how often SQLite forced data to the device",
            )),
            per_operation(bytes(
                "written_bytes_per_request",
                "written",
                "what SQLite wrote to its files",
            )),
            per_second(
                "requests_per_s",
                "requests/s",
                "requests answered per second, all connections together",
            ),
        ],
        details: "A request is 10 inserts, 10 updates, 10 selects by key, 5 of the whole table, 5 by \
                  `LIKE`, and a delete of what was inserted. With `database` it works on a copy of \
                  your own database.\n\n\
                  A way is named by its journal mode and its `synchronous`. `-tx` means one \
                  transaction around the request; without it, each of the 21 statements that write \
                  is a transaction.\n\n\
                  Each slice starts from the same database. Afterwards SQLite's `integrity_check` \
                  must find nothing, and every row and update must be there. `connections` make \
                  requests at the same time, and wait up to 5 s for each other's locks.",
        ..StudyDescription::new("sqlite", "answer a request from a database", "request")
    }
    .with_strategies(Strategy::descriptions())
});
