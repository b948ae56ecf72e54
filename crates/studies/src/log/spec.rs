//! The study's description, as data: its parameters, and what it measures besides the time per
//! operation.

use std::sync::LazyLock;

use model::description::NoteDescription;
use model::scaling::{CLIENTS, THREADS};
use model::study::{FigureDescription, ParamKind, StudyDescription};

pub(crate) use super::strategies::Strategy;
use crate::choices::choices;
use crate::rules::{is, not, where_set};
use crate::specs::{
    bytes, choice, count, figure, hidden, largest, neutral, param, per_operation, per_second,
    share, size, sum, time,
};
use crate::{clients, worker_stats};

/// The largest record.
pub(super) const RECORD_BYTES_MAX: u64 = 1 << 20;
/// More records than this say no more about a slice.
pub(super) const RECORDS_MAX: u64 = 1_000_000;
/// More writers than this have no numbers in their records.
pub(super) const WRITERS_MAX: u64 = 64;
/// What a second thread changes, more do not change again.
const THREADS_MAX: u64 = 64;

choices! {
    /// What several writers are.
    pub(crate) enum WriterKind {
        Processes = "processes",
        Threads = "threads",
    }
}

choices! {
    /// What a full queue does with another record.
    pub(crate) enum FullQueue {
        Block = "block",
        Drop = "drop",
    }
}

choices! {
    /// Whether a ring's entries wait for those before them.
    pub(crate) enum RingOrder {
        Linked = "linked",
        Unordered = "unordered",
    }
}

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        compared: vec!["sync", "buffer", "batch", "queue", "full", "ring", THREADS],
        applies_when: vec![
            where_set(&["kind"], [not("writers", "1")]),
            where_set(&["record"], [is("sample", &[""])]),
        ],
        params: vec![
            param(
                "record",
                "size of a record, its newline included",
                (ParamKind::Sizes { min: 1, max: RECORD_BYTES_MAX }, "70 B"),
            ),
            param(
                "writers",
                "how many writers append to the file at the same time",
                count(1, WRITERS_MAX, "1"),
            ),
            param(
                "records",
                "how many records each writer appends in a slice; 0 for as many as take some 5 \
                 ms",
                count(0, RECORDS_MAX, "0"),
            ),
            param(
                CLIENTS,
                "how many ranks of MPI append to the file at the same time, one writer on each \
                 (on disks of their own, each to its own file); all of them unless given",
                count(1, WRITERS_MAX, "1"),
            ),
            param(
                "kind",
                "whether several writers are threads or processes; interpreters are always \
                 processes",
                choice(WriterKind::NAMES, "processes"),
            ),
            param(
                THREADS,
                "threads of the process that writes: all but the one that writes sleep",
                count(1, THREADS_MAX, "1"),
            ),
            param(
                "sync",
                "when a writer calls fdatasync(2): never, each (record), every N (records) or \
                 every TIME",
                (ParamKind::Sync, "never"),
            ),
            param(
                "rate",
                "records per second, all writers together; latency then counts from the time at \
                 which a record was due",
                (ParamKind::Rate, "max"),
            ),
            param("buffer", "buffered: size of the buffer", size(1, 16 << 20, "8 KiB")),
            param("batch", "batched, uring: records submitted at once", count(1, 1024, "64")),
            param("queue", "queued: capacity of the queue, in records", count(1, 1 << 20, "1024")),
            param(
                "full",
                "queued: whether a full queue blocks the application or drops the record",
                choice(FullQueue::NAMES, "block"),
            ),
            param(
                "ring",
                "uring: whether each entry of the ring waits for the one before it",
                choice(RingOrder::NAMES, "linked"),
            ),
            param(
                "sample",
                "a log of your own: records have the sizes of its lines, and generated contents",
                (ParamKind::Path("a file, or empty to use the size given by record"), ""),
            ),
            param(
                "kill",
                "after each slice, how often writers are killed while writing, to see what is \
                 lost",
                count(0, 10_000, "0"),
            ),
        ],
        figures: figures(),
        notes: vec![NoteDescription::new(
            "kills",
            "writers were killed {kills} times while writing. Of {killed_acknowledged} records \
             acknowledged by then, {killed_lost} were lost and {killed_mixed} share a line with \
             one that was cut off; broken lines left behind: {killed_broken_lines}. This is what \
             a process crash does, not a power failure.",
        )],
        details: "A record is a line with a checksum. One writer, or several (`writers`), append \
                  records to one file. The time is per record, as one writer sees it. With `rate`, \
                  latency counts from when a record was due.\n\n\
                  Afterwards the file is read back outside the clock. Each record must be there \
                  once, whole and in order; otherwise comparisons are `invalid` and the exit code is \
                  3. On Linux one write(2) to a file opened with `O_APPEND` is one contiguous append \
                  on a local file system, whatever its size. So several writers need no lock if each \
                  record is one write.\n\n\
                  With several writers, `seek-end` and `buffered` break records: the first is a \
                  control, and the second cuts a record where its buffer ends. nginx \
                  (`buffer=64k`) and Apache (`BufferedLogs On`) break none: they write whole lines \
                  when their buffer is full. No way does quite that; `batched` comes nearest. It \
                  acknowledges records only when they are written, while these servers lose what \
                  is in their buffer if they crash.\n\n\
                  `kill` kills the writers while they write and counts what was lost. The ways \
                  `php-…`, `python-…` and `node-…` run in the real interpreter, without your \
                  settings.",
        ..StudyDescription::new("log", "append a record to a log", "record")
    }
    .with_strategies(Strategy::descriptions())
});

/// What all writers get done.
pub(super) const RECORDS_PER_S: &str = "records_per_s";

fn figures() -> Vec<FigureDescription> {
    let all_writers = vec![
        per_second(RECORDS_PER_S, "records/s", "records written per second, all writers together"),
        largest(time(
            "longest_wait_ns",
            "longest",
            "the longest that any writer waited for a record",
        )),
        // Of several clients it is the same as that of all writers.
        hidden(clients::rate()),
    ];
    let rest = vec![
        share("lock_wait_share", "in lock", "share of the writers' time spent getting the lock"),
        neutral(hidden(per_operation(bytes(
            "bytes_per_record",
            "in file",
            "what the log has grown by",
        )))),
        per_operation(figure("calls_per_record", "calls", "system calls to append, syncs aside")),
        per_operation(share(
            "dropped_per_record",
            "dropped",
            "share of the records that a full queue refused",
        )),
        per_operation(time(
            "merge_ns_per_record",
            "merge",
            "merging the writers' files afterwards",
        )),
        time("service_mean_ns", "service", "latency from the time at which a record was begun"),
        hidden(time("service_p99_ns", "service p99", "the same, 99th percentile of each writer")),
        neutral(sum("kills", "kills", "how often the writers were killed while writing")),
        neutral(sum("killed_acknowledged", "acknowledged", "records acknowledged to them by then")),
        sum("killed_lost", "lost", "of these, not whole in the file"),
        sum("killed_mixed", "mixed", "of these, on a line with one that was cut off"),
        sum("killed_broken_lines", "broken lines", "lines that are not a whole record"),
    ];
    [all_writers, worker_stats::figures(), rest].concat()
}
