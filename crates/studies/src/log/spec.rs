//! What the study is, as data: its strategies with what each promises, its
//! parameters, and what it measures beside the toll.

use model::study::{FigureSpec, Fold, ParamKind, ParamSpec, StrategySpec, StudySpec};

use super::WRITERS_MAX;

const WRITTEN: &str =
    "a process's death takes nothing acknowledged; a power cut what is not written back yet";

pub(super) static SPEC: StudySpec = StudySpec {
    name: "log",
    about: "append records to a log file",
    operation: "record",
    moves_bytes: false,
    by_default: true,
    compared: &[],
    strategies: &[
        StrategySpec {
            name: "reopen",
            about: "open, write and close the file for each record",
            promise: WRITTEN,
            by_default: true,
        },
        StrategySpec {
            name: "held",
            about: "write to one handle kept open (O_APPEND)",
            promise: WRITTEN,
            by_default: true,
        },
        StrategySpec {
            name: "flock",
            about: "as held, with an exclusive flock(2) around each write",
            promise: WRITTEN,
            by_default: true,
        },
        StrategySpec {
            name: "flock-nonblocking",
            about: "as flock, on a descriptor with O_NONBLOCK",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "ofd-lock",
            about: "as flock, with an open file description lock of fcntl(2)",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "seek-end",
            about: "seek to the end, then write, without O_APPEND",
            promise: "none with several writers: they overwrite one another (the control that must break)",
            by_default: false,
        },
        StrategySpec {
            name: "buffered",
            about: "gather in a buffer, written when full wherever that falls",
            promise: "a process's death takes the buffer; several writers mix where a buffer ends within a record",
            by_default: false,
        },
        StrategySpec {
            name: "batched",
            about: "write so many records at once (writev)",
            promise: "a process's death takes a batch that is not acknowledged; a power cut as with held",
            by_default: false,
        },
        StrategySpec {
            name: "dsync",
            about: "as held, on a descriptor with O_DSYNC",
            promise: "what is acknowledged survives a power cut, as far as the device keeps its word",
            by_default: false,
        },
        StrategySpec {
            name: "queued",
            about: "hand to a thread that writes, through a bounded queue",
            promise: "a process's death takes the queue, though it was acknowledged; a full queue may drop",
            by_default: false,
        },
        StrategySpec {
            name: "per-writer",
            about: "a file for each writer, merged by time afterwards",
            promise: "as held, for each file; the order between writers is only as good as their clocks",
            by_default: false,
        },
        StrategySpec {
            name: "uring",
            about: "put so many records on an io_uring at once",
            promise: "as batched; records keep their order only where ring entries are linked",
            by_default: false,
        },
        StrategySpec {
            name: "php-held",
            about: "PHP: fwrite to a handle kept open",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "php-reopen",
            about: "PHP: fopen, fwrite and fclose for each record",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "php-file-put-contents",
            about: "PHP: file_put_contents with FILE_APPEND",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "php-flock",
            about: "PHP: flock, fwrite, unlock on a handle kept open",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "php-flock-nonblocking",
            about: "PHP: the same on a non-blocking stream",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "php-error-log",
            about: "PHP: error_log to a file",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "python-file-handler",
            about: "Python: logging.FileHandler",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "python-watched-file-handler",
            about: "Python: logging.handlers.WatchedFileHandler",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "node-append-file-sync",
            about: "Node.js: fs.appendFileSync",
            promise: WRITTEN,
            by_default: false,
        },
        StrategySpec {
            name: "node-write-stream",
            about: "Node.js: a write stream of fs",
            promise: "a process's death takes what the stream still holds, though write() has returned",
            by_default: false,
        },
    ],
    params: &[
        ParamSpec {
            name: "record",
            about: "size of a record, its newline included",
            kind: ParamKind::Sizes { min: 1, max: 1 << 20 },
            default: "70 B",
        },
        ParamSpec {
            name: "writers",
            about: "how many append to the file at once",
            kind: ParamKind::Count { min: 1, max: WRITERS_MAX },
            default: "1",
        },
        ParamSpec {
            name: "kind",
            about: "what several writers are; interpreters are always processes",
            kind: ParamKind::Choice(&["processes", "threads"]),
            default: "processes",
        },
        ParamSpec {
            name: "sync",
            about: "when a writer calls fdatasync(2): never, each (record), every N (records) \
                    or every TIME",
            kind: ParamKind::Sync,
            default: "never",
        },
        ParamSpec {
            name: "rate",
            about: "records a second, all writers together; latency then counts from when a \
                    record should have been written",
            kind: ParamKind::Rate,
            default: "max",
        },
        ParamSpec {
            name: "buffer",
            about: "buffered: bytes gathered before each write",
            kind: ParamKind::Size { min: 1, max: 16 << 20 },
            default: "8 KiB",
        },
        ParamSpec {
            name: "batch",
            about: "batched, uring: records handed over at once",
            kind: ParamKind::Count { min: 1, max: 1024 },
            default: "64",
        },
        ParamSpec {
            name: "queue",
            about: "queued: records that the queue holds",
            kind: ParamKind::Count { min: 1, max: 1 << 20 },
            default: "1024",
        },
        ParamSpec {
            name: "full",
            about: "queued: whether a full queue makes the application wait or drops the record",
            kind: ParamKind::Choice(&["block", "drop"]),
            default: "block",
        },
        ParamSpec {
            name: "ring",
            about: "uring: whether an entry waits for the one before it",
            kind: ParamKind::Choice(&["linked", "unordered"]),
            default: "linked",
        },
        ParamSpec {
            name: "kill",
            about: "after each slice, how often writers are killed in mid-write to see what is lost",
            kind: ParamKind::Count { min: 0, max: 10_000 },
            default: "0",
        },
    ],
    figures: &[
        figure(
            "records_per_s",
            "records/s",
            "records that all writers got done together",
            Fold::Mean,
        ),
        figure(
            "longest_wait_ns",
            "longest",
            "the longest that any writer waited for a record",
            Fold::Max,
        ),
        figure(
            "fairness_jain",
            "fair",
            "1 where all writers were as fast, 1/n where one was",
            Fold::Mean,
        ),
        figure(
            "lock_wait_share",
            "in lock",
            "share of the writers' time spent getting the lock",
            Fold::Mean,
        ),
        figure("bytes_per_record", "", "what the log has grown by", Fold::PerOperation),
        figure(
            "calls_per_record",
            "calls",
            "system calls to append, syncs aside",
            Fold::PerOperation,
        ),
        figure("dropped_per_record", "dropped", "refused by a full queue", Fold::PerOperation),
        figure(
            "merge_ns_per_record",
            "merge",
            "merging the writers' files afterwards",
            Fold::PerOperation,
        ),
        figure(
            "service_mean_ns",
            "service",
            "latency from when a record was really begun",
            Fold::Mean,
        ),
        figure("service_p99_ns", "", "the same, 99th percentile of each writer", Fold::Mean),
        figure("kills", "", "how often the writers were killed in mid-write", Fold::Sum),
        figure("killed_acknowledged", "", "records acknowledged to them by then", Fold::Sum),
        figure("killed_lost", "", "of these, not whole in the file", Fold::Sum),
        figure("killed_mixed", "", "of these, on a line with one that was cut off", Fold::Sum),
        figure("killed_broken_lines", "", "lines that are no whole record", Fold::Sum),
    ],
};

const fn figure(
    name: &'static str,
    column: &'static str,
    about: &'static str,
    fold: Fold,
) -> FigureSpec {
    FigureSpec { name, about, column, fold }
}
