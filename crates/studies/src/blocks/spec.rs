//! The study's names and numbers, as the user meets them.

use model::study::{Better, FigureSpec, Fold, ParamKind, ParamSpec, StudySpec, Unit};

use crate::choices::{choices, strategies};

/// How much memory held of the file when the clock started.
pub(super) const RESIDENT: &str = "resident_before_percent";
/// How much of what was read storage had to deliver.
pub(super) const FROM_STORAGE: &str = "read_from_storage_percent";
/// Blocks done in a second.
pub(super) const IOPS: &str = "blocks_per_s";

/// What is lost with a machine.
const PROMISE: &str = "process crash: nothing acknowledged is lost; power failure: writes not yet \
                       written back are lost, none that was acknowledged with sync=each; a block \
                       that is being written may be left part old, part new";
const PROMISE_DIRECT: &str = "process crash: nothing acknowledged is lost; power failure: writes \
                              still in the device's own cache are lost, none that was \
                              acknowledged with sync=each; a block that is being written may be \
                              left part old, part new";

strategies! {
    /// How a block is read or written.
    pub(super) enum Strategy {
        Buffered = "buffered", by_default,
            "pread(2) or pwrite(2) through the page cache, one at a time", PROMISE;
        Direct = "direct", by_default,
            "the same with O_DIRECT, past the page cache", PROMISE_DIRECT;
        Uring = "uring", by_name,
            "io_uring through the page cache, `depth` at a time", PROMISE;
        UringDirect = "uring-direct", by_default,
            "io_uring with O_DIRECT, `depth` at a time", PROMISE_DIRECT;
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
    /// Whether memory holds the file.
    pub(super) enum Cache {
        Warm = "warm",
        Cold = "cold",
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
    strategies: Strategy::SPECS,
    params: &[
        ParamSpec {
            name: "size",
            about: "size of a block; with O_DIRECT a multiple of the device's",
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
            about: "which block comes next; at random, each has one turn before any has two",
            kind: ParamKind::Choice(Order::NAMES),
            default: "random",
        },
        ParamSpec {
            name: "mix",
            about: "mixed: how many of a hundred blocks are read, and not written",
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
            about: "size of the file, which is written in full before anything is timed",
            kind: ParamKind::Size { min: 512, max: 64 << 30 },
            default: "64 MiB",
        },
        ParamSpec {
            name: "cache",
            about: "buffered, uring: whether the file is in memory or evicted from it; with \
                    O_DIRECT it is evicted always",
            kind: ParamKind::Choice(Cache::NAMES),
            default: "warm",
        },
        ParamSpec {
            name: "sync",
            about: "whether each write waits until it would outlast a power failure (O_DSYNC); \
                    what is left to be written is forced to the device after each slice, under \
                    a clock of its own",
            kind: ParamKind::Choice(Sync::NAMES),
            default: "never",
        },
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
            about: "how much of what was read storage had to deliver; with read-ahead it may \
                    exceed 100",
            unit: Unit::Percent,
            better: Better::Neither,
            fold: Fold::Mean,
            shown: true,
        },
    ],
    ..StudySpec::EMPTY
};
