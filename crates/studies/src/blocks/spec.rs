//! The study's names and numbers, as the user meets them.

use model::study::{Better, FigureSpec, Fold, Is, ParamKind, ParamSpec, StudySpec, Unit};

use crate::choices::{choices, strategies};
use crate::rules::{for_strategies, promise, where_set};
use crate::together::{FAIRNESS, SKEW, SLOWEST};
use crate::{clients, cold};

/// How much memory held of the file when the clock started.
pub(super) const RESIDENT: &str = "resident_before_percent";
/// How much of what was read storage had to deliver.
pub(super) const FROM_STORAGE: &str = "read_from_storage_percent";
/// Blocks done in a second.
pub(super) const IOPS: &str = "blocks_per_s";

/// What is lost with a machine.
const CACHED: &str = "process crash: nothing acknowledged is lost; power failure: data not yet \
                      written back is lost; a block that is being written may be left part old, \
                      part new";
const DIRECT: &str = "process crash: nothing acknowledged is lost; power failure: data still in the \
                      device's own cache is lost; a block that is being written may be left part \
                      old, part new";
const SYNCED: &str = "process crash: nothing acknowledged is lost; power failure: nothing \
                      acknowledged is lost, provided that the device honours flushes; a block that \
                      is being written may be left part old, part new";
const READ: &[(&str, Is)] = &[("access", Is::OneOf(&["read"]))];
const WRITTEN: &[(&str, Is)] = &[("access", Is::Not("read"))];

strategies! {
    /// How a block is read or written.
    pub(super) enum Strategy {
        Buffered = "buffered", by_default,
            "pread(2) or pwrite(2) through the page cache, one at a time", CACHED;
        Direct = "direct", by_default,
            "the same with O_DIRECT, past the page cache", DIRECT;
        Uring = "uring", by_name,
            "io_uring through the page cache, `depth` at a time", CACHED;
        UringDirect = "uring-direct", by_default,
            "io_uring with O_DIRECT, `depth` at a time", DIRECT;
    }
}

choices! {
    /// Which block comes next.
    pub(super) enum Order {
        /// Any that had no turn yet in this slice.
        Random = "random",
        /// The one behind the one before.
        Sequential = "sequential",
    }
}

choices! {
    /// What is done with a block.
    pub(super) enum Access {
        Read = "read",
        Write = "write",
        /// Both, at random, as many of each as `mix` says.
        Mixed = "mixed",
    }
}

choices! {
    /// When a write counts as done.
    pub(super) enum Sync {
        /// Once the kernel or the device has taken it.
        Never = "never",
        /// Once it would outlast a power failure.
        Each = "each",
    }
}

/// The parameter by which several clients have one file.
pub(super) const CLIENTS_FILE: &str = "clients_file";

choices! {
    /// Where the blocks of several clients are.
    pub(super) enum ClientsFile {
        /// Each has a file.
        Own = "own",
        /// In one file, those of each together.
        Stretch = "stretch",
        /// In one file, those of all among each other.
        Same = "same",
    }
}

impl Strategy {
    /// Whether the page cache is passed by.
    pub(super) fn is_direct(self) -> bool {
        matches!(self, Self::Direct | Self::UringDirect)
    }

    /// Whether several blocks are under way at a time.
    pub(super) fn is_queued(self) -> bool {
        matches!(self, Self::Uring | Self::UringDirect)
    }
}

pub(super) static SPEC: StudySpec = StudySpec {
    name: "blocks",
    about: "read and write blocks of a large file, at random or in order",
    operation: "block",
    moves_bytes: true,
    by_default: false,
    compared: &["depth", "sync", CLIENTS_FILE],
    strategies: Strategy::SPECS,
    promises: &[promise(&[], READ, ""), promise(&[], &[("sync", Is::OneOf(&["each"]))], SYNCED)],
    params: &[
        ParamSpec {
            name: "size",
            about: "size of a block; with O_DIRECT a multiple of the device's sectors",
            kind: ParamKind::Size { min: 512, max: 16 << 20 },
            default: "4 KiB",
        },
        ParamSpec {
            name: "access",
            about: "what is done with a block",
            kind: ParamKind::Choice(Access::NAMES),
            default: "read, write",
        },
        ParamSpec {
            name: "order",
            about: "which block comes next; in a slice each has one turn at the most",
            kind: ParamKind::Choice(Order::NAMES),
            default: "random",
        },
        ParamSpec {
            name: "mix",
            about: "mixed: how many of a hundred blocks are read; the others are written",
            kind: ParamKind::Count { min: 0, max: 100 },
            default: "70",
        },
        ParamSpec {
            name: "depth",
            about: "uring, uring-direct: how many blocks are under way at a time",
            kind: ParamKind::Count { min: 1, max: 1024 },
            default: "16",
        },
        ParamSpec {
            name: "file",
            about: "size of the file, of each client's part in one that several have; it is \
                    written in full before anything is timed",
            kind: ParamKind::Size { min: 512, max: 64 << 30 },
            default: "64 MiB",
        },
        cold::param(
            "buffered, uring: whether the file is in memory or evicted from it; with O_DIRECT it \
             is evicted always",
        ),
        ParamSpec {
            name: "sync",
            about: "whether each write waits until it would outlast a power failure (O_DSYNC)",
            kind: ParamKind::Choice(Sync::NAMES),
            default: "never",
        },
        clients::PARAM,
        ParamSpec {
            name: CLIENTS_FILE,
            about: "whether each of several clients has a file of its own, a stretch of its own in \
                    one file, or blocks all over one file, none of which another client has",
            kind: ParamKind::Choice(ClientsFile::NAMES),
            default: "own",
        },
    ],
    applies: &[
        where_set(&[CLIENTS_FILE], &[("clients", Is::Not("1"))]),
        for_strategies(&["depth"], &["uring", "uring-direct"]),
        for_strategies(&["cache"], &["buffered", "uring"]),
        where_set(&["mix"], &[("access", Is::OneOf(&["mixed"]))]),
        where_set(&["sync"], WRITTEN),
    ],
    figures: &[
        FigureSpec {
            name: IOPS,
            title: "IOPS",
            about: "blocks read and written per second",
            unit: Unit::PerSecond,
            better: Better::More,
            fold: Fold::Mean,
            shown: true,
        },
        FigureSpec {
            name: RESIDENT,
            title: "resident",
            about: "how much of the file was in memory when the clock started; files of a place \
                    in memory always are",
            unit: Unit::Percent,
            better: Better::Neither,
            fold: Fold::Mean,
            shown: true,
        },
        FigureSpec {
            name: FROM_STORAGE,
            title: "from storage",
            about: "share of what was read that had to come from storage; with read-ahead it \
                    may exceed 100%",
            unit: Unit::Percent,
            better: Better::Neither,
            fold: Fold::Mean,
            shown: true,
        },
        clients::RATE,
        FAIRNESS,
        SLOWEST,
        SKEW,
    ],
    ..StudySpec::EMPTY
};
