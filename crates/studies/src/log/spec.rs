//! What the study is, as data: its strategies with what each promises, its
//! parameters, and what it measures beside the toll.

use model::scaling::CLIENTS;
use model::study::{Better, FigureSpec, Fold, NoteSpec, ParamKind, ParamSpec, StudySpec, Unit};

use super::promises::{APPLIES, PROMISES, RELIES_ON, SYNCED, WRITTEN};
use crate::choices::{choices, strategies};
use crate::clients::RATE;
use crate::specs::{figure, time};
use crate::together::{FAIRNESS, SKEW, SLOWEST};

/// The largest record.
pub(super) const RECORD_BYTES_MAX: u64 = 1 << 20;
/// More records than this say no more about a slice.
pub(super) const RECORDS_MAX: u64 = 1_000_000;
/// More writers than this have no numbers in their records.
pub(super) const WRITERS_MAX: u64 = 64;

strategies! {
    /// How records are appended.
    pub(crate) enum Strategy {
        Reopen = "reopen", by_default,
            "open, write and close the file for each record", WRITTEN;
        Held = "held", by_default,
            "write to one handle kept open (O_APPEND)", WRITTEN;
        Flock = "flock", by_default,
            "as held, with an exclusive flock(2) around each write", WRITTEN;
        FlockNonblocking = "flock-nonblocking", by_name,
            "as flock, on a descriptor with O_NONBLOCK", WRITTEN;
        OfdLock = "ofd-lock", by_name,
            "as flock, with an open file description lock of fcntl(2)", WRITTEN;
        SeekEnd = "seek-end", by_name,
            "seek to the end, then write, without O_APPEND",
            "none with several writers: they overwrite one another (a control, which must fail)";
        Buffered = "buffered", by_name,
            "collect records in a buffer and write it when full, wherever that falls",
            "process crash: the buffer is lost; several writers: records that a full buffer splits \
             are mixed with others";
        Batched = "batched", by_name,
            "write several records at once with writev(2)",
            "process crash: a batch not yet acknowledged is lost; power failure: data not yet \
             written back is lost";
        Dsync = "dsync", by_name,
            "as held, on a descriptor with O_DSYNC", SYNCED;
        Queued = "queued", by_name,
            "hand each record to a writer thread through a bounded queue",
            "process crash: records in the queue are lost although they were acknowledged; power \
             failure: these and data not yet written back are lost";
        PerWriter = "per-writer", by_name,
            "write one file per writer, merged by time afterwards",
            "process crash: nothing acknowledged is lost; power failure: data not yet written back \
             is lost; the order between writers is only as exact as their clocks";
        Uring = "uring", by_name,
            "submit several records at once through io_uring",
            "process crash: a batch not yet acknowledged is lost; power failure: data not yet \
             written back is lost; records keep their order only if the ring's entries are linked";
        PhpHeld = "php-held", by_name,
            "PHP: fwrite to a handle kept open", WRITTEN;
        PhpReopen = "php-reopen", by_name,
            "PHP: fopen, fwrite and fclose for each record", WRITTEN;
        PhpFilePutContents = "php-file-put-contents", by_name,
            "PHP: file_put_contents with FILE_APPEND", WRITTEN;
        PhpFlock = "php-flock", by_name,
            "PHP: flock, fwrite, unlock on a handle kept open", WRITTEN;
        PhpFlockNonblocking = "php-flock-nonblocking", by_name,
            "PHP: flock, fwrite, unlock on a non-blocking stream kept open", WRITTEN;
        PhpErrorLog = "php-error-log", by_name,
            "PHP: error_log to a file", WRITTEN;
        PythonFileHandler = "python-file-handler", by_name,
            "Python: logging.FileHandler", WRITTEN;
        PythonWatchedFileHandler = "python-watched-file-handler", by_name,
            "Python: logging.handlers.WatchedFileHandler", WRITTEN;
        NodeAppendFileSync = "node-append-file-sync", by_name,
            "Node.js: fs.appendFileSync", WRITTEN;
        NodeWriteStream = "node-write-stream", by_name,
            "Node.js: a write stream of fs",
            "process crash: what the stream still buffers is lost although write() has returned";
    }
}

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

pub(super) static SPEC: StudySpec = StudySpec {
    name: "log",
    about: "append records to a log file",
    operation: "record",
    compared: &["sync", "buffer", "batch", "queue", "full", "ring"],
    strategies: Strategy::SPECS,
    promises: PROMISES,
    relies_on: RELIES_ON,
    applies: APPLIES,
    params: &[
        ParamSpec {
            name: "record",
            about: "size of a record, its newline included",
            kind: ParamKind::Sizes { min: 1, max: RECORD_BYTES_MAX },
            default: "70 B",
        },
        ParamSpec {
            name: "writers",
            about: "how many writers append to the file at the same time",
            kind: ParamKind::Count { min: 1, max: WRITERS_MAX },
            default: "1",
        },
        ParamSpec {
            name: "records",
            about: "how many records each writer appends in a slice; 0 for as many as take some \
                    20 ms",
            kind: ParamKind::Count { min: 0, max: RECORDS_MAX },
            default: "0",
        },
        ParamSpec {
            name: CLIENTS,
            about: "how many ranks of MPI append to the file at the same time, one writer on each \
                    (on disks of their own, each to its own file); all of them unless given",
            kind: ParamKind::Count { min: 1, max: WRITERS_MAX },
            default: "1",
        },
        ParamSpec {
            name: "kind",
            about: "whether several writers are threads or processes; interpreters are always \
                    processes",
            kind: ParamKind::Choice(WriterKind::NAMES),
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
            about: "records per second, all writers together; latency then counts from the time \
                    at which a record was due",
            kind: ParamKind::Rate,
            default: "max",
        },
        ParamSpec {
            name: "buffer",
            about: "buffered: size of the buffer",
            kind: ParamKind::Size { min: 1, max: 16 << 20 },
            default: "8 KiB",
        },
        ParamSpec {
            name: "batch",
            about: "batched, uring: records submitted at once",
            kind: ParamKind::Count { min: 1, max: 1024 },
            default: "64",
        },
        ParamSpec {
            name: "queue",
            about: "queued: capacity of the queue, in records",
            kind: ParamKind::Count { min: 1, max: 1 << 20 },
            default: "1024",
        },
        ParamSpec {
            name: "full",
            about: "queued: whether a full queue blocks the application or drops the record",
            kind: ParamKind::Choice(FullQueue::NAMES),
            default: "block",
        },
        ParamSpec {
            name: "ring",
            about: "uring: whether each entry of the ring waits for the one before it",
            kind: ParamKind::Choice(RingOrder::NAMES),
            default: "linked",
        },
        ParamSpec {
            name: "sample",
            about: "a log of your own: records have the sizes of its lines, and invented contents",
            kind: ParamKind::Path("a file, or empty to use the size given by record"),
            default: "",
        },
        ParamSpec {
            name: "kill",
            about: "after each slice, how often writers are killed while writing, to see what is lost",
            kind: ParamKind::Count { min: 0, max: 10_000 },
            default: "0",
        },
    ],
    figures: FIGURES,
    notes: &[NoteSpec {
        when: "kills",
        text: "writers were killed {kills} times while writing. Of {killed_acknowledged} records \
               acknowledged by then, {killed_lost} were lost and {killed_mixed} share a line with \
               one that was cut off; broken lines left behind: {killed_broken_lines}. This is what \
               a process crash does, not a power failure.",
    }],
    ..StudySpec::EMPTY
};

/// What all writers get done.
pub(super) const RECORDS_PER_S: &str = "records_per_s";

const FIGURES: &[FigureSpec] = &[
    FigureSpec {
        unit: Unit::PerSecond,
        better: Better::More,
        ..figure(RECORDS_PER_S, "records/s", "records written per second, all writers together")
    },
    FigureSpec {
        fold: Fold::Max,
        ..time("longest_wait_ns", "longest", "the longest that any writer waited for a record")
    },
    // Of several clients it is the same as that of all writers.
    FigureSpec { shown: false, ..RATE },
    FAIRNESS,
    SLOWEST,
    SKEW,
    FigureSpec {
        unit: Unit::Share,
        ..figure("lock_wait_share", "in lock", "share of the writers' time spent getting the lock")
    },
    FigureSpec {
        unit: Unit::Bytes,
        better: Better::Neither,
        fold: Fold::PerOperation,
        shown: false,
        ..figure("bytes_per_record", "in file", "what the log has grown by")
    },
    FigureSpec {
        fold: Fold::PerOperation,
        ..figure("calls_per_record", "calls", "system calls to append, syncs aside")
    },
    FigureSpec {
        unit: Unit::Share,
        fold: Fold::PerOperation,
        ..figure("dropped_per_record", "dropped", "share of the records that a full queue refused")
    },
    FigureSpec {
        fold: Fold::PerOperation,
        ..time("merge_ns_per_record", "merge", "merging the writers' files afterwards")
    },
    time("service_mean_ns", "service", "latency from the time at which a record was begun"),
    FigureSpec {
        shown: false,
        ..time("service_p99_ns", "service p99", "the same, 99th percentile of each writer")
    },
    FigureSpec {
        better: Better::Neither,
        ..total("kills", "kills", "how often the writers were killed while writing")
    },
    FigureSpec {
        better: Better::Neither,
        ..total("killed_acknowledged", "acknowledged", "records acknowledged to them by then")
    },
    total("killed_lost", "lost", "of these, not whole in the file"),
    total("killed_mixed", "mixed", "of these, on a line with one that was cut off"),
    total("killed_broken_lines", "broken lines", "lines that are not a whole record"),
];

/// A number over all slices, which a note tells.
const fn total(name: &'static str, title: &'static str, about: &'static str) -> FigureSpec {
    FigureSpec { fold: Fold::Sum, shown: false, ..figure(name, title, about) }
}
