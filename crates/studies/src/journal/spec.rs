//! The study's names and numbers, as the user meets them.

use std::time::Duration;

use model::figure::WRITTEN_ON_DEVICE;
use model::study::{
    Better, BreakEvenSpec, FigureSpec, Fold, NoteSpec, ParamKind, ParamSpec, StudySpec, Unit,
};

use crate::choices::{choices, strategies};
use crate::rules::for_strategies;
use crate::specs;

/// With its key it fits into a page four times.
const VALUE_BYTES_MAX: u64 = 900;

/// Each strategy syncs each transaction, and recovery takes whole transactions alone.
const SAFE: &str = "process crash: nothing acknowledged is lost; power failure: nothing \
                    acknowledged is lost, provided that the device honours flushes; a transaction \
                    that is being committed is there whole or not at all";

strategies! {
    /// What a transaction stores of the pages that it changed.
    pub(super) enum Strategy {
        Pages = "pages", by_default,
            "the changed pages, whole", SAFE;
        PagesLz4 = "pages-lz4", by_default,
            "as pages, all of a transaction compressed as one block by LZ4", SAFE;
        PagesSnappy = "pages-snappy", by_name,
            "the same by Snappy", SAFE;
        PagesZstd = "pages-zstd", by_name,
            "the same by zstd", SAFE;
        Differences = "differences", by_name,
            "what differs from the pages' previous versions", SAFE;
        DifferencesLz4 = "differences-lz4", by_name,
            "as differences, compressed by LZ4", SAFE;
        DifferencesZstd = "differences-zstd", by_default,
            "as differences, compressed by zstd", SAFE;
    }
}

choices! {
    /// In which order keys come.
    pub(super) enum Keys {
        Random = "random",
        Sequential = "sequential",
    }
}

choices! {
    /// What values are like.
    pub(super) enum Values {
        /// Short records of an application, as JSON.
        Json = "json",
        /// Zeros, the most that compression can gain.
        Zeros = "zeros",
        /// Random bytes, of which it gains nothing.
        Incompressible = "incompressible",
    }
}

choices! {
    /// What is there when the clock starts.
    pub(super) enum Start {
        /// A store with all items; a slice adds some more.
        Loaded = "loaded",
        /// Nothing; a slice adds all items.
        Empty = "empty",
    }
}

choices! {
    /// How a transaction reaches the device.
    pub(super) enum Writing {
        Fdatasync = "fdatasync",
        Dsync = "dsync",
        Direct = "direct",
    }
}

choices! {
    /// Where the journal's files have their space from.
    pub(super) enum Space {
        Preallocated = "preallocated",
        Growing = "growing",
        ZeroFilled = "zero-filled",
        Recycled = "recycled",
    }
}

/// Strategies that compress, and those of them that do it by zstd.
const COMPRESSING: &[&str] =
    &["pages-lz4", "pages-snappy", "pages-zstd", "differences-lz4", "differences-zstd"];
const BY_ZSTD: &[&str] = &["pages-zstd", "differences-zstd"];

pub(super) static SPEC: StudySpec = StudySpec {
    name: "journal",
    about: "commit transactions of 100 items to a store with a write-ahead journal",
    operation: "transaction",
    compared: &["writing", "space", "zstd_level", "threshold"],
    strategies: Strategy::SPECS,
    params: PARAMS,
    applies: &[
        for_strategies(&["threshold"], COMPRESSING),
        for_strategies(&["zstd_level"], BY_ZSTD),
    ],
    figures: FIGURES,
    parts: &WALL,
    break_evens: &[BreakEvenSpec {
        code: "writes-less-for-more-work",
        bytes: WRITTEN,
        device: &["write_ns", "sync_ns"],
    }],
    notes: &[
        NoteSpec {
            when: MODELLED,
            text: "the device is modelled: writes and syncs were made to take {modelled_wait_ns} \
                   longer per transaction than they do at the place itself.",
        },
        NoteSpec {
            when: NOT_COMPRESSED,
            text: "the file system did not compress the journal. It needs a mount option for that \
                   (compress=zstd), and btrfs compresses neither what is written past the page \
                   cache (writing=direct) nor files whose space was allocated before: set \
                   journal.space=growing.",
        },
    ],
    ..StudySpec::EMPTY
};

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "keys",
        about: "the order in which keys are inserted",
        kind: ParamKind::Choice(Keys::NAMES),
        default: "random",
    },
    ParamSpec {
        name: "values",
        about: "what values are: records as JSON, zeros, or bytes that do not compress",
        kind: ParamKind::Choice(Values::NAMES),
        default: "json",
    },
    ParamSpec {
        name: "value",
        about: "size of a value; a key has 8 bytes",
        kind: ParamKind::Size { min: 1, max: VALUE_BYTES_MAX },
        default: "100 B",
    },
    ParamSpec {
        name: "items",
        about: "items in the store when the clock starts, or with start=empty when it stops",
        kind: ParamKind::Count { min: 100, max: 10_000_000 },
        default: "20000",
    },
    ParamSpec {
        name: "start",
        about: "whether a slice adds to a loaded store, or fills an empty one",
        kind: ParamKind::Choice(Start::NAMES),
        default: "loaded",
    },
    ParamSpec {
        name: "writing",
        about: "how a transaction is forced to the device: write and fdatasync(2), O_DSYNC, or \
                O_DIRECT with O_DSYNC",
        kind: ParamKind::Choice(Writing::NAMES),
        default: "fdatasync",
    },
    ParamSpec {
        name: "space",
        about: "where the journal's files have their space from",
        kind: ParamKind::Choice(Space::NAMES),
        default: "preallocated",
    },
    ParamSpec {
        name: "block",
        about: "what a transaction is padded to: a power of two",
        kind: ParamKind::Size { min: 512, max: 65_536 },
        default: "4 KiB",
    },
    ParamSpec {
        name: "segment",
        about: "size of each file of the journal",
        kind: ParamKind::Size { min: 1 << 18, max: 1 << 30 },
        default: "16 MiB",
    },
    ParamSpec {
        name: "checkpoint",
        about: "a checkpoint is made when the journal has grown by this much",
        kind: ParamKind::Size { min: 1 << 20, max: 1 << 40 },
        default: "256 MiB",
    },
    ParamSpec {
        name: "zstd_level",
        about: "pages-zstd, differences-zstd: how hard zstd tries",
        kind: ParamKind::Count { min: 1, max: 22 },
        default: "1",
    },
    ParamSpec {
        name: "threshold",
        about: "compressing strategies: transactions of no more than this are not compressed",
        kind: ParamKind::Size { min: 0, max: 32 << 20 },
        default: "0 B",
    },
    ParamSpec {
        name: "modelled_mb",
        about: "MB/s of a modelled device, whose time is added to the place's own; 0 is none",
        kind: ParamKind::Count { min: 0, max: 1_000_000 },
        default: "0",
    },
    ParamSpec {
        name: "modelled_iops",
        about: "writes per second that a modelled device does, of 256 KiB at most; 0 is no limit",
        kind: ParamKind::Count { min: 0, max: 100_000_000 },
        default: "0",
    },
    ParamSpec {
        name: "modelled_sync",
        about: "what a sync of a modelled device takes",
        kind: ParamKind::Duration { min: Duration::ZERO, max: Duration::from_secs(1) },
        default: "0s",
    },
];

/// The parts of a transaction's time, as figures, in the order in which they come.
pub(super) const WALL: [&str; 9] = [
    "tree_ns",
    "copy_ns",
    "difference_ns",
    "compression_ns",
    "checksum_ns",
    "segment_ns",
    "write_ns",
    "sync_ns",
    "checkpoint_ns",
];
/// The processor time in each of them.
pub(super) const CPU: [&str; 9] = [
    "tree_cpu_ns",
    "copy_cpu_ns",
    "difference_cpu_ns",
    "compression_cpu_ns",
    "checksum_cpu_ns",
    "segment_cpu_ns",
    "write_cpu_ns",
    "sync_cpu_ns",
    "checkpoint_cpu_ns",
];
/// What was put, of the pages that this changed, and what was written for it.
pub(super) const PUT: &str = "changed_bytes";
pub(super) const PAGES: &str = "page_bytes";
pub(super) const WRITTEN: &str = "written_bytes";
pub(super) const PER_SECOND: &str = "transactions_per_s";
/// What recovery takes for each transaction that it replays, and how fast that is.
pub(super) const RECOVERY: &str = "recovery_ns";
pub(super) const RECOVERY_SPEED: &str = "recovery_mb_per_s";
/// What the file system compressed of the journal, and what it stores of all.
pub(super) const COMPRESSED: &str = "compressed_percent";
pub(super) const STORED: &str = "stored_percent";
pub(super) const NOT_COMPRESSED: &str = "not_compressed";
/// What a modelled device added.
pub(super) const MODELLED: &str = "modelled_wait_ns";

const FIGURES: &[FigureSpec] = &[
    FigureSpec {
        unit: Unit::PerSecond,
        better: Better::More,
        fold: Fold::Mean,
        ..figure(PER_SECOND, "commits/s", "transactions committed per second")
    },
    bytes(PUT, "changed", "the keys and values that a transaction puts"),
    bytes(PAGES, "pages", "the pages that it changes, whole"),
    bytes(WRITTEN, "written", "what it writes to the journal, padded to whole blocks"),
    WRITTEN_ON_DEVICE,
    FigureSpec {
        better: Better::Neither,
        ..time(MODELLED, "modelled", "what a modelled device added")
    },
    time(RECOVERY, "recovery", "replaying the transaction from the journal, in memory by then"),
    FigureSpec {
        unit: Unit::MegabytesPerSecond,
        better: Better::More,
        fold: Fold::Mean,
        ..figure(RECOVERY_SPEED, "recovery MB/s", "the same, in bytes of whole pages")
    },
    FigureSpec {
        unit: Unit::Percent,
        better: Better::Neither,
        fold: Fold::Mean,
        ..figure(COMPRESSED, "compressed", "how much of the journal a btrfs compressed")
    },
    FigureSpec {
        unit: Unit::Percent,
        fold: Fold::Mean,
        ..figure(STORED, "stored", "what a btrfs stores of the journal, by its own account")
    },
    FigureSpec {
        fold: Fold::Max,
        shown: false,
        ..figure(NOT_COMPRESSED, "not compressed", "whether a btrfs compressed nothing of it")
    },
    part(WALL[0], "tree", "changing the tree, private copies of pages included"),
    part(WALL[1], "copy", "copying whole pages together"),
    part(WALL[2], "differences", "finding what differs from the pages' previous versions"),
    part(WALL[3], "compression", "compressing the transaction"),
    part(WALL[4], "checksum", "the checksum of what is stored"),
    part(WALL[5], "segment", "making the journal's next file ready"),
    part(WALL[6], "write", "writing; with O_DSYNC, waiting for the device as well"),
    part(WALL[7], "sync", "fdatasync(2)"),
    part(WALL[8], "checkpoint", "checkpoints, those that came within slices"),
    part(CPU[0], "tree CPU", "processor time in the tree"),
    part(CPU[1], "copy CPU", "processor time copying"),
    part(CPU[2], "differences CPU", "processor time finding differences"),
    part(CPU[3], "compression CPU", "processor time compressing"),
    part(CPU[4], "checksum CPU", "processor time for the checksum"),
    part(CPU[5], "segment CPU", "processor time for the journal's next file"),
    part(CPU[6], "write CPU", "processor time writing"),
    part(CPU[7], "sync CPU", "processor time in fdatasync(2)"),
    part(CPU[8], "checkpoint CPU", "processor time in checkpoints"),
];

/// A number per transaction of which less is better.
const fn figure(name: &'static str, title: &'static str, about: &'static str) -> FigureSpec {
    FigureSpec { fold: Fold::PerOperation, ..specs::figure(name, title, about) }
}

const fn bytes(name: &'static str, title: &'static str, about: &'static str) -> FigureSpec {
    FigureSpec { unit: Unit::Bytes, ..figure(name, title, about) }
}

const fn time(name: &'static str, title: &'static str, about: &'static str) -> FigureSpec {
    FigureSpec { unit: Unit::Nanoseconds, ..figure(name, title, about) }
}

/// A part of the time, which reports draw.
const fn part(name: &'static str, title: &'static str, about: &'static str) -> FigureSpec {
    FigureSpec { shown: false, ..time(name, title, about) }
}
