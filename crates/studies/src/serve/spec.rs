//! The study's names and numbers, as the user meets them.

use std::time::Duration;

use model::study::{FigureSpec, Fold, ParamKind, ParamSpec, StrategySpec, StudySpec};

use crate::page::spec::{FILES, SET, TOTAL};
use crate::sqlite::spec::{ROWS, STRATEGY_NAMES};

pub(super) const ERRORS: &str = "errors_percent";
pub(super) const RATE: &str = "highest_rate_per_s";
pub(super) const P50: &str = "connection_p50_ns";
pub(super) const RESPONSE: &str = "response_p50_ns";
pub(super) const TRANSFER: &str = "transfer_p50_ns";
pub(super) const SERVER_CPU: &str = "server_cpu_ns_per_connection";
pub(super) const IN_FILES: &str = "files_ns_per_connection";
pub(super) const LOGGED: &str = "logged_request_ns";
pub(super) const SYNCS: &str = "syncs_per_connection";
pub(super) const READ_CALLS: &str = "read_calls_per_connection";
pub(super) const WRITE_CALLS: &str = "write_calls_per_connection";
pub(super) const TO_DEVICE: &str = "device_written_bytes_per_connection";
pub(super) const MEMORY: &str = "server_memory_bytes";
pub(super) const EMPTY: &str = "empty_reply_cpu_ns";
pub(super) const OWN_TOLL: &str = "own_toll_percent";
pub(super) const LAG: &str = "schedule_lag_p99_ns";
pub(super) const CLIENT_CPU: &str = "client_cpu_percent";
pub(super) const INVALID: &str = "invalid_steps";

const fn strategy(name: &'static str, by_default: bool, about: &'static str) -> StrategySpec {
    StrategySpec { name, about, promise: "", by_default }
}

const fn figure(name: &'static str, column: &'static str, about: &'static str) -> FigureSpec {
    FigureSpec { name, about, column, fold: Fold::Mean }
}

const fn param(
    name: &'static str,
    about: &'static str,
    kind: ParamKind,
    default: &'static str,
) -> ParamSpec {
    ParamSpec { name, about, kind, default }
}

const TEXT: ParamKind = ParamKind::Text("a text");
const SHELL: ParamKind = ParamKind::Shell(
    "a command for the shell, in which {place}, {port}, {variant} and, in a plan file, {plan} \
     are filled in",
);

/// Parameters that mean nothing to a server of the user's.
pub(super) const BUILT_IN_ALONE: &[&str] = &[
    "log_lines",
    "log_when",
    "workers",
    "backlog",
    "files",
    "total",
    "set",
    "render",
    "database",
    "rows",
];
/// Parameters that mean nothing to a server that is built in.
pub(super) const COMMAND_ALONE: &[&str] = &["command", "prepare", "variant", "url", "evidence"];

pub(super) static SPEC: StudySpec = StudySpec {
    name: "serve",
    about: "answer connections at a rate (toll: their median time)",
    operation: "connection",
    moves_bytes: false,
    by_default: false,
    compared: &["log_lines", "log_when", "database", "variant"],
    strategies: &[
        strategy("page", true, "built in: read a page's files, render them, send the page"),
        strategy("sqlite", false, "built in: answer the study sqlite's request (try rate=20)"),
        strategy("empty", false, "built in: an empty reply; with log_lines, logging by itself"),
        strategy("command", false, "a server of your own, started by serve.command"),
    ],
    params: &[
        param(
            "rate",
            "connections begun a second; max looks for the highest rate that is held",
            ParamKind::Rate,
            "200",
        ),
        param(
            "connections",
            "connections in a slice",
            ParamKind::Count { min: 10, max: 1_000_000 },
            "100",
        ),
        param(
            "timeout",
            "how long a connection may take",
            ParamKind::Duration { min: Duration::from_millis(100), max: Duration::from_secs(60) },
            "5s",
        ),
        param(
            "p99_within",
            "with rate=max: a rate is held while the p99 of connection times is within this",
            ParamKind::Duration { min: Duration::from_millis(1), max: Duration::from_secs(60) },
            "100ms",
        ),
        param(
            "errors_within",
            "with rate=max: a rate is held while no more percent of connections fail",
            ParamKind::Count { min: 0, max: 50 },
            "0",
        ),
        param(
            "log_lines",
            "lines that a request writes to a log, held open, one write each",
            ParamKind::Count { min: 0, max: 1000 },
            "0",
        ),
        param(
            "log_when",
            "whether each request logs, one in a hundred, or one chosen by ?log in its URL",
            ParamKind::Choice(&["always", "sampled", "switched"]),
            "always",
        ),
        param(
            "workers",
            "the built-in server's threads, each of which answers one connection at a time",
            ParamKind::Count { min: 1, max: 256 },
            "4",
        ),
        param(
            "backlog",
            "connections that may wait for a worker of the built-in server",
            ParamKind::Count { min: 1, max: 65_535 },
            "128",
        ),
        FILES,
        TOTAL,
        SET,
        param(
            "render",
            "whether the files become a page by a template, or are sent as they are",
            ParamKind::Choice(&["html", "none"]),
            "html",
        ),
        param(
            "database",
            "how the built-in server uses SQLite: a strategy of the study sqlite",
            ParamKind::Choice(STRATEGY_NAMES),
            "delete-full",
        ),
        ROWS,
        param("command", "starts your server, in front or behind", SHELL, ""),
        param("prepare", "run before your server is started, to fill {place}", SHELL, ""),
        param("variant", "put for {variant} in command, prepare and url", TEXT, ""),
        param("url", "path and query that your server is asked for", TEXT, "/"),
        param(
            "evidence",
            "path whose reply, a JSON object of numbers, is reported with each arm",
            TEXT,
            "",
        ),
        param(
            "ready_within",
            "how long your server may take, its preparation included, until it listens",
            ParamKind::Duration { min: Duration::from_millis(100), max: Duration::from_secs(600) },
            "10s",
        ),
        param(
            "port",
            "port of your server; 0 for any that is free",
            ParamKind::Count { min: 0, max: 65_535 },
            "0",
        ),
    ],
    figures: &[
        figure(ERRORS, "errors", "connections that failed"),
        figure(RATE, "holds", "the highest rate held"),
        figure(P50, "connection", "connection time, median"),
        figure(RESPONSE, "response", "from the request sent to the reply's first byte, median"),
        figure(TRANSFER, "transfer", "from the first byte to the last, median"),
        figure(SERVER_CPU, "CPU", "processor time of all the server's processes"),
        figure(IN_FILES, "in files", "time in the files, or in SQLite, of a built-in server"),
        figure(LOGGED, "logged one", "with log_when=switched, the one request that was logged"),
        figure(SYNCS, "syncs", "calls that force data to the device, of all its processes"),
        figure(TO_DEVICE, "to device", "what its processes gave storage to write"),
        figure(
            READ_CALLS,
            "",
            "system calls of the read(2) kind, which those of sockets alone are not",
        ),
        figure(
            WRITE_CALLS,
            "",
            "system calls of the write(2) kind, which those of sockets alone are not",
        ),
        figure(MEMORY, "", "memory of all its processes"),
        figure(EMPTY, "", "processor time of the built-in server for an empty reply"),
        figure(OWN_TOLL, "own toll", "processor time of an empty reply against this one's"),
        figure(LAG, "late", "how late connections were begun, p99"),
        figure(CLIENT_CPU, "", "what the client took of its core"),
        FigureSpec {
            name: INVALID,
            column: "",
            about: "slices in which the client was the limit, or begun some connections late",
            fold: Fold::Sum,
        },
    ],
};
