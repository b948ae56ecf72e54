//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;
use std::time::Duration;

use model::case::Case;
use model::description::{CauseDescription, ScoreWhenDescription};
use model::strategy::Recipe;
use model::study::{FigureDescription, ParamKind, Score, StudyDescription};

use crate::choices::{choices, strategies};
use crate::page::spec::{files, set, total};
use crate::rules::{Promise, is, not, where_set};
use crate::specs::{
    bytes, choice, count, duration, figure, hidden, neutral, param, per_second, percent, sum, time,
};
use crate::sqlite::spec::{BROKEN, LAST, SAFE, Strategy as Database, UNDONE, rows};

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

strategies! {
    /// Which server answers.
    pub(super) enum Strategy {
        Page = "page", by_default {
            label: "a page of files",
            about: "built in: read a page's files, render them, send the page",
            promises: logged(), syncs: Never, relies_on: [Appends where not("log_lines", "0")],
            params: [
                "log_lines", "log_when", "workers", "backlog", "files", "total", "set", "render"
            ],
            needs: None, recipe: Recipe::AsItIs,
        }
        Sqlite = "sqlite", by_name {
            label: "SQLite requests",
            about: "built in: answer the study sqlite's request (try rate=20)",
            promises: as_the_database(), syncs: AsAsked, relies_on: [FcntlLocks],
            params: ["log_lines", "log_when", "workers", "backlog", "database", "rows"],
            needs: None, recipe: Recipe::AsItIs,
        }
        Empty = "empty", by_name {
            label: "an empty reply",
            about: "built in: an empty reply; with log_lines, logging by itself",
            promises: logged(), syncs: Never, relies_on: [Appends where not("log_lines", "0")],
            params: ["log_lines", "log_when", "workers", "backlog"],
            needs: None, recipe: Recipe::Control,
        }
        Command = "command", by_name {
            label: "your server",
            about: "a server of your own, started by serve.command",
            promises: "", syncs: Never, relies_on: [],
            params: ["command", "prepare", "variant", "url", "evidence"],
            needs: None, recipe: Recipe::AsItIs,
        }
    }
}

/// What logging promises.
fn logged() -> Promise {
    Promise::from("").when(
        [not("log_lines", "0")],
        "process crash: no line logged is lost; power failure: lines not yet written back are lost",
    )
}

/// What the strategy of the study sqlite promises that `database` names.
fn as_the_database() -> Promise {
    let with = |promise: Promise, text: &'static str| {
        let databases = Database::descriptions().iter().filter(|database| database.promise == text);
        let names: Vec<&str> = databases.map(|database| database.name.as_str()).collect();
        promise.when([is("database", &names)], text)
    };
    [LAST, UNDONE, SAFE, BROKEN].into_iter().fold(Promise::from(""), with)
}

choices! {
    /// Which requests write to the log.
    pub(super) enum LogWhen {
        Always = "always",
        Sampled = "sampled",
        Switched = "switched",
    }
}

choices! {
    /// Whether files become a page, or are sent as they are.
    pub(super) enum Render {
        Html = "html",
        None = "none",
    }
}

const TEXT: ParamKind = ParamKind::Text("a text");
const SHELL: ParamKind = ParamKind::Shell(
    "a command for the shell, in which {place}, {port}, {variant} and, in a plan file, {plan} \
     are filled in",
);

pub(super) const CASES: &[Case] = &[
    Case::of("page", &[("connections", "20"), ("log_lines", "1")]).calls_fail(),
    Case::of("sqlite", &[("connections", "10"), ("rate", "100")]).calls_fail(),
    Case::of(
        "command",
        &[
            ("connections", "10"),
            ("command", "exec python3 -m http.server --bind 127.0.0.1 --directory {place} {port}"),
        ],
    )
    .needs("python3")
    .calls_fail(),
    Case::of("empty", &[]).untried("it is page without files"),
    Case::of("page", &[("connections", "10")]).killed(),
];

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        by_default: false,
        compared: vec!["log_lines", "log_when", "database", "variant"],
        applies_when: vec![
            where_set(&["files", "total"], [is("set", &[""])]),
            where_set(&["log_when"], [not("log_lines", "0")]),
            where_set(&["p99_within", "errors_within"], [is("rate", &["max"])]),
        ],
        params: vec![
            param(
                "rate",
                "connections begun per second; max searches for the highest rate that is held",
                (ParamKind::Rate, "200"),
            ),
            param("connections", "connections in a slice", count(10, 1_000_000, "100")),
            param(
                "timeout",
                "how long a connection may take",
                duration(Duration::from_millis(100), Duration::from_secs(60), "5s"),
            ),
            param(
                "p99_within",
                "with rate=max: a rate is held while the p99 of connection times is at most this",
                duration(Duration::from_millis(1), Duration::from_secs(60), "100ms"),
            ),
            param(
                "errors_within",
                "with rate=max: a rate is held while at most this percentage of connections fails",
                count(0, 50, "0"),
            ),
            param(
                "log_lines",
                "lines that a request appends to a log kept open, with one write each",
                count(0, 1000, "0"),
            ),
            param(
                "log_when",
                "whether each request logs, one in a hundred, or one chosen by ?log in its URL",
                choice(LogWhen::NAMES, "always"),
            ),
            param(
                "workers",
                "the built-in server's threads, each of which answers one connection at a time",
                count(1, 256, "4"),
            ),
            param(
                "backlog",
                "connections that may wait for a worker of the built-in server",
                count(1, 65_535, "128"),
            ),
            files(),
            total(),
            set(),
            param(
                "render",
                "whether the files become a page by a template, or are sent as they are",
                choice(Render::NAMES, "html"),
            ),
            param(
                "database",
                "how the built-in server uses SQLite: a strategy of the study sqlite",
                choice(Database::NAMES, "delete-full"),
            ),
            rows(),
            param(
                "command",
                "starts your server, in the foreground or the background",
                (SHELL, ""),
            ),
            param("prepare", "run before your server is started, to fill {place}", (SHELL, "")),
            param(
                "variant",
                "the text that replaces {variant} in command, prepare and url",
                (ParamKind::Name("a text"), ""),
            ),
            param("url", "path and query that your server is asked for", (TEXT, "/")),
            param(
                "evidence",
                "path whose reply, a JSON object of numbers, is reported with each combination",
                (TEXT, ""),
            ),
            param(
                "ready_within",
                "how long your server may take, its preparation included, until it listens",
                duration(Duration::from_millis(100), Duration::from_secs(600), "10s"),
            ),
            param("port", "port of your server; 0 for any free one", count(0, 65_535, "0")),
        ],
        figures: figures(),
        score: Score::MedianTime,
        score_when: vec![ScoreWhenDescription::new("rate", "max", Score::HighestRate)],
        causes: vec![CauseDescription::new(
            "time-in-files",
            "reading and writing files, or in SQLite",
            IN_FILES,
            0.25,
        )],
        details: "A server is started on fresh files, and connections begin at a rate, whether or \
                  not it is busy. An operation is a connection, from its intended start to the last \
                  byte of the reply. A slice counts by the median of its connections. A connection \
                  that fails counts as one that took the whole `timeout`, and failures have a \
                  verdict of their own.\n\n\
                  With `rate=max` a slice looks for the highest rate that is held: the p99 stays \
                  within `p99_within`, no more than `errors_within` fail, and the queue does not \
                  grow.\n\n\
                  `page`, `sqlite` and `empty` are built-in servers. `command` starts your own, \
                  which must listen on 127.0.0.1. In `command`, `prepare` and `url`, `{place}`, \
                  `{port}`, `{variant}` and `{plan}` are filled in. The first three are in the \
                  environment as well: `IOTOLL_PLACE`, `IOTOLL_PORT`, `IOTOLL_VARIANT`. Every user \
                  of the machine can reach your server while it runs. The built-in ones answer only \
                  the run's own requests.\n\n\
                  A slice in which this client was late or its core was busy is doubted. If more \
                  than half are, comparisons are `invalid`.",
        ..StudyDescription::new(
            "serve",
            "answer a connection while they come at a rate",
            "connection",
        )
    }
    .with_strategies(Strategy::descriptions())
});

fn figures() -> Vec<FigureDescription> {
    vec![
        percent(ERRORS, "errors", "connections that failed"),
        per_second(RATE, "holds", "the highest rate held"),
        time(P50, "connection", "connection time, median"),
        time(RESPONSE, "response", "from the request sent to the reply's first byte, median"),
        time(TRANSFER, "transfer", "from the first byte to the last, median"),
        time(SERVER_CPU, "CPU", "processor time of all the server's processes"),
        time(IN_FILES, "in files", "time that a built-in server spent on files, or in SQLite"),
        time(LOGGED, "logged one", "with log_when=switched, the one request that was logged"),
        figure(SYNCS, "syncs", "calls of all its processes that force data to the device"),
        bytes(TO_DEVICE, "to device", "data that its processes sent to storage"),
        hidden(figure(
            READ_CALLS,
            "reads",
            "system calls of the read(2) kind, not counting those on sockets alone",
        )),
        hidden(figure(
            WRITE_CALLS,
            "writes",
            "system calls of the write(2) kind, not counting those on sockets alone",
        )),
        hidden(bytes(MEMORY, "memory", "memory of all its processes")),
        hidden(time(
            EMPTY,
            "empty reply",
            "processor time of the built-in server for an empty reply",
        )),
        neutral(percent(
            OWN_TOLL,
            "own time per operation",
            "processor time of an empty reply, as a share of this one's",
        )),
        time(LAG, "late", "how late connections were begun, 99th percentile"),
        hidden(percent(CLIENT_CPU, "client CPU", "how much of its processor the client used")),
        sum(
            INVALID,
            "invalid",
            "slices in which the client was the limit, or began some connections late",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_behind_a_server_promises_what_it_does_by_itself() {
        for database in Database::descriptions() {
            let params = [("database".to_owned(), database.name.clone())].into();
            assert_eq!(SPEC.promise_of("sqlite", &params), database.promise, "{}", database.name);
        }
    }
}
