//! The study's names and numbers, as the user meets them.

use model::study::{FigureSpec, Fold, ParamKind, ParamSpec, StrategySpec, StudySpec};

/// How many rows a template has at the most.
const ROWS_MAX: u64 = 100_000;

/// A strategy as SQLite is told of it.
pub(crate) struct Mode {
    pub(crate) journal: &'static str,
    pub(crate) synchronous: &'static str,
    /// Whether a request is one transaction, or each of its statements is.
    pub(crate) one_transaction: bool,
}

/// Which mode a strategy is, its name being its parts.
pub(crate) fn mode(strategy: &'static str) -> Mode {
    let (parts, one_transaction) =
        strategy.strip_suffix("-tx").map_or((strategy, false), |parts| (parts, true));
    let (journal, synchronous) = parts.split_once('-').unwrap_or((parts, "off"));
    Mode { journal, synchronous, one_transaction }
}

/// Whether a strategy writes ahead to a log.
pub(crate) fn is_wal(strategy: &str) -> bool {
    strategy.starts_with("wal")
}

const SAFE: &str = "what was committed survives a power failure";
const UNDONE: &str = "a power failure may undo the latest requests, and no more than that";
const BROKEN: &str = "a power failure may leave the database broken";

const fn strategy(
    name: &'static str,
    by_default: bool,
    about: &'static str,
    promise: &'static str,
) -> StrategySpec {
    StrategySpec { name, about, promise, by_default }
}

/// Every strategy, for others that use SQLite in those ways.
pub(crate) const STRATEGY_NAMES: &[&str] = &[
    "delete-full",
    "delete-full-tx",
    "wal-normal",
    "wal-normal-tx",
    "wal-full",
    "wal-full-tx",
    "truncate-full",
    "truncate-full-tx",
    "delete-normal",
    "delete-off",
    "off",
    "off-tx",
];

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
    moves_bytes: false,
    by_default: true,
    compared: &[],
    strategies: &[
        strategy(
            "delete-full",
            true,
            "SQLite's default: a journal made and deleted, and waited for, by each statement",
            SAFE,
        ),
        strategy(
            "delete-full-tx",
            true,
            "as delete-full, with all of a request in one transaction",
            SAFE,
        ),
        strategy("wal-normal", true, "a write-ahead log, waited for when it is merged", UNDONE),
        strategy(
            "wal-normal-tx",
            false,
            "as wal-normal, with all of a request in one transaction",
            UNDONE,
        ),
        strategy("wal-full", false, "a write-ahead log, waited for by each statement", SAFE),
        strategy(
            "wal-full-tx",
            false,
            "as wal-full, with all of a request in one transaction",
            SAFE,
        ),
        strategy("truncate-full", false, "as delete-full, with the journal cut, not deleted", SAFE),
        strategy(
            "truncate-full-tx",
            false,
            "as truncate-full, with all of a request in one transaction",
            SAFE,
        ),
        strategy("delete-normal", false, "as delete-full, waiting less often", BROKEN),
        strategy("delete-off", false, "as delete-full, never waiting", BROKEN),
        strategy("off", false, "no journal, never waiting: a failed statement breaks data", BROKEN),
        strategy("off-tx", false, "as off, with all of a request in one transaction", BROKEN),
    ],
    params: &[
        ROWS,
        ParamSpec {
            name: "connections",
            about: "connections that make requests at the same time, each in a thread",
            kind: ParamKind::Count { min: 1, max: 64 },
            default: "1",
        },
        ParamSpec {
            name: "connect",
            about: "whether a connection is made once, or by each request as in PHP",
            kind: ParamKind::Choice(&["once", "request"]),
            default: "once",
        },
    ],
    figures: &[
        FigureSpec {
            name: "syncs_per_request",
            column: "syncs",
            about: "how often SQLite waited for the device",
            fold: Fold::PerOperation,
        },
        FigureSpec {
            name: "written_bytes_per_request",
            column: "written",
            about: "what SQLite wrote to its files",
            fold: Fold::PerOperation,
        },
        FigureSpec {
            name: "requests_per_s",
            column: "requests/s",
            about: "what all connections together got done",
            fold: Fold::Mean,
        },
    ],
};
