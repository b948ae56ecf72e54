//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;
use std::time::Duration;

use model::case::Case;
use model::description::{BreakEvenDescription, NoteDescription};
use model::figure::written_on_device;
use model::study::{Better, FigureDescription, ParamDescription, StudyDescription, Unit};

use crate::choices::{choices, strategies};
use crate::rules::change;
use crate::specs::{
    self, choice, count, duration, figure, hidden, largest, neutral, param, per_operation,
    per_second, percent, size,
};

/// With its key it fits into a page four times.
const VALUE_BYTES_MAX: u64 = 900;

/// Each strategy syncs each transaction, and recovery takes whole transactions alone.
const SAFE: &str = "process crash: nothing acknowledged is lost; power failure: nothing \
                    acknowledged is lost, provided that the device honours flushes; a transaction \
                    that is being committed is there whole or not at all";

strategies! {
    /// What a transaction stores of the pages that it changed.
    pub(super) enum Strategy {
        Pages = "pages", by_default {
            label: "log whole pages",
            about: "the changed pages, whole",
            promises: SAFE, syncs: Always, relies_on: [], params: [], needs: None,
            recipe: change(
                "write the changed pages whole to the log (PostgreSQL: full_page_writes=on, \
                 wal_compression=off)",
                "SHOW wal_compression; prints off; the log grows by whole pages",
                "log what differs, or compress",
            ),
        }
        PagesLz4 = "pages-lz4", by_default {
            label: "log whole pages, LZ4",
            about: "as pages, all of a transaction compressed as one block by LZ4",
            promises: SAFE, syncs: Always, relies_on: [], params: ["threshold"], needs: None,
            recipe: change(
                "compress the pages of a transaction by LZ4 before they are written (PostgreSQL: \
                 wal_compression=lz4 and reload)",
                "SHOW wal_compression; prints lz4; the log grows by less per transaction",
                "PostgreSQL: wal_compression=off and reload",
            ),
        }
        PagesSnappy = "pages-snappy", by_name {
            label: "log whole pages, Snappy",
            about: "the same by Snappy",
            promises: SAFE, syncs: Always, relies_on: [], params: ["threshold"], needs: None,
            recipe: change(
                "compress the pages of a transaction by Snappy before they are written",
                "the log grows by less than the changed pages have",
                "write the pages as they are",
            ),
        }
        PagesZstd = "pages-zstd", by_name {
            label: "log whole pages, zstd",
            about: "the same by zstd",
            promises: SAFE, syncs: Always, relies_on: [], params: ["threshold", "zstd_level"],
            needs: None,
            recipe: change(
                "compress the pages of a transaction by zstd before they are written \
                 (PostgreSQL: wal_compression=zstd and reload)",
                "SHOW wal_compression; prints zstd; the log grows by less per transaction",
                "PostgreSQL: wal_compression=off and reload",
            ),
        }
        Differences = "differences", by_name {
            label: "log differences",
            about: "what differs from the pages' previous versions",
            promises: SAFE, syncs: Always, relies_on: [], params: [], needs: None,
            recipe: change(
                "write the ranges of bytes that a transaction changed in its pages, and whole \
                 pages only after a checkpoint",
                "the log grows by little more than the changed bytes",
                "write the pages whole",
            ),
        }
        DifferencesLz4 = "differences-lz4", by_name {
            label: "log differences, LZ4",
            about: "as differences, compressed by LZ4",
            promises: SAFE, syncs: Always, relies_on: [], params: ["threshold"], needs: None,
            recipe: change(
                "as differences, and compress those of a transaction by LZ4 before they are \
                 written",
                "the log grows by less than the differences have",
                "write the differences as they are",
            ),
        }
        DifferencesZstd = "differences-zstd", by_default {
            label: "log differences, zstd",
            about: "as differences, compressed by zstd",
            promises: SAFE, syncs: Always, relies_on: [], params: ["threshold", "zstd_level"],
            needs: None,
            recipe: change(
                "as differences, and compress those of a transaction by zstd before they are \
                 written",
                "the log grows by less than the differences have",
                "write the differences as they are",
            ),
        }
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

pub(super) const CASES: &[Case] = &[
    Case::of("pages", &[]).calls_fail().footprint(32),
    Case::of("differences-zstd", &[("writing", "dsync"), ("space", "growing")]).calls_fail(),
    Case::of(
        "pages-lz4",
        &[
            ("start", "empty"),
            ("items", "3000"),
            ("space", "recycled"),
            ("segment", "1 MiB"),
            ("checkpoint", "2 MiB"),
        ],
    )
    .calls_fail(),
    Case::of("pages-snappy", &[]).untried("it is pages-lz4 with another library"),
    Case::of("differences-lz4", &[]).untried("it is differences-zstd with another library"),
    Case::of("pages-lz4", &[("space", "zero-filled"), ("segment", "1 MiB")]).footprint(10),
    Case::of("differences", &[("space", "growing"), ("values", "incompressible")]).footprint(32),
    Case::of(
        "pages",
        &[
            ("start", "empty"),
            ("items", "4000"),
            ("space", "recycled"),
            ("segment", "1 MiB"),
            ("checkpoint", "4 MiB"),
        ],
    )
    .footprint(40),
    Case::of("pages-zstd", &[("start", "empty"), ("value", "900 B"), ("items", "1000")])
        .footprint(10),
    Case::of("pages", &[("start", "empty"), ("segment", "256 KiB"), ("checkpoint", "1 MiB")])
        .power_cut(60),
    Case::of("pages-lz4", &[("start", "empty"), ("space", "growing")])
        .variant("growing")
        .power_cut(60),
    Case::of(
        "differences-zstd",
        &[("start", "empty"), ("writing", "dsync"), ("space", "recycled")],
    )
    .variant("dsync")
    .power_cut(60),
    Case::of("differences", &[("start", "empty"), ("writing", "direct")])
        .variant("direct")
        .power_cut(60),
];

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        compared: vec!["writing", "space", "zstd_level", "threshold"],
        params: [item_params(), journal_params()].concat(),
        figures: figures().into_iter().chain(parts()).collect(),
        parts: WALL.map(|[name, ..]| name.to_owned()).into(),
        break_evens: vec![BreakEvenDescription {
            code: "writes-less-for-more-work".to_owned(),
            bytes: WRITTEN.to_owned(),
            device: ["write_ns", "sync_ns"].map(str::to_owned).into(),
        }],
        notes: vec![
            NoteDescription::new(
                MODELLED,
                "the device is modelled: writes and syncs were made to take {modelled_wait_ns} \
                 longer per transaction than they do at the place itself.",
            ),
            NoteDescription::new(
                NOT_COMPRESSED,
                "the file system did not compress the journal. It needs a mount option for that \
                 (compress=zstd), and btrfs compresses neither what is written past the page \
                 cache (writing=direct) nor files whose space was allocated before: set \
                 journal.space=growing.",
            ),
        ],
        details: "An operation is a transaction of 100 items, which is on the device when it \
                  returns. The store writes whole pages, or what differs from their previous \
                  versions, plain or compressed. After each slice the store is recovered and \
                  compared with what was committed. See [a store's journal](../../journal.md).",
        ..StudyDescription::new("journal", "commit 100 items to a store", "transaction")
    }
    .with_strategies(Strategy::descriptions())
});

/// What is stored.
fn item_params() -> Vec<ParamDescription> {
    vec![
        param("keys", "the order in which keys are inserted", choice(Keys::NAMES, "random")),
        param(
            "values",
            "what values are: records as JSON, zeros, or bytes that do not compress",
            choice(Values::NAMES, "json"),
        ),
        param("value", "size of a value; a key has 8 bytes", size(1, VALUE_BYTES_MAX, "100 B")),
        param(
            "items",
            "items in the store when the clock starts, or with start=empty when it stops",
            count(100, 10_000_000, "20000"),
        ),
        param(
            "start",
            "whether a slice adds to a loaded store, or fills an empty one",
            choice(Start::NAMES, "loaded"),
        ),
    ]
}

/// How the journal is written, and to what.
fn journal_params() -> Vec<ParamDescription> {
    vec![
        param(
            "writing",
            "how a transaction is forced to the device: write and fdatasync(2), O_DSYNC, or \
             O_DIRECT with O_DSYNC",
            choice(Writing::NAMES, "fdatasync"),
        ),
        param(
            "space",
            "where the journal's files have their space from",
            choice(Space::NAMES, "preallocated"),
        ),
        param(
            "block",
            "what a transaction is padded to: a power of two",
            size(512, 65_536, "4 KiB"),
        ),
        param("segment", "size of each file of the journal", size(1 << 18, 1 << 30, "16 MiB")),
        param(
            "checkpoint",
            "a checkpoint is made when the journal has grown by this much",
            size(1 << 20, 1 << 40, "256 MiB"),
        ),
        param("zstd_level", "pages-zstd, differences-zstd: how hard zstd tries", count(1, 22, "1")),
        param(
            "threshold",
            "compressing strategies: transactions of no more than this are not compressed",
            size(0, 32 << 20, "0 B"),
        ),
        param(
            "modelled_mb",
            "MB/s of a modelled device, whose time is added to the place's own; 0 is none",
            count(0, 1_000_000, "0"),
        ),
        param(
            "modelled_iops",
            "writes per second that a modelled device does, of 256 KiB at most; 0 is no limit",
            count(0, 100_000_000, "0"),
        ),
        param(
            "modelled_sync",
            "what a sync of a modelled device takes",
            duration(Duration::ZERO, Duration::from_secs(1), "0s"),
        ),
    ]
}

/// The parts of a transaction's time, as figures with titles, in the order in which they come.
pub(super) const WALL: [[&str; 3]; 9] = [
    ["tree_ns", "tree", "changing the tree, private copies of pages included"],
    ["copy_ns", "copy", "copying whole pages together"],
    ["difference_ns", "differences", "finding what differs from the pages' previous versions"],
    ["compression_ns", "compression", "compressing the transaction"],
    ["checksum_ns", "checksum", "the checksum of what is stored"],
    ["segment_ns", "segment", "making the journal's next file ready"],
    ["write_ns", "write", "writing; with O_DSYNC, waiting for the device as well"],
    ["sync_ns", "sync", "fdatasync(2)"],
    ["checkpoint_ns", "checkpoint", "checkpoints, those that came within slices"],
];
/// The processor time in each of them.
pub(super) const CPU: [[&str; 3]; 9] = [
    ["tree_cpu_ns", "tree CPU", "processor time in the tree"],
    ["copy_cpu_ns", "copy CPU", "processor time copying"],
    ["difference_cpu_ns", "differences CPU", "processor time finding differences"],
    ["compression_cpu_ns", "compression CPU", "processor time compressing"],
    ["checksum_cpu_ns", "checksum CPU", "processor time for the checksum"],
    ["segment_cpu_ns", "segment CPU", "processor time for the journal's next file"],
    ["write_cpu_ns", "write CPU", "processor time writing"],
    ["sync_cpu_ns", "sync CPU", "processor time in fdatasync(2)"],
    ["checkpoint_cpu_ns", "checkpoint CPU", "processor time in checkpoints"],
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

fn figures() -> Vec<FigureDescription> {
    vec![
        per_second(PER_SECOND, "commits/s", "transactions committed per second"),
        bytes(PUT, "changed", "the keys and values that a transaction puts"),
        bytes(PAGES, "pages", "the pages that it changes, whole"),
        bytes(WRITTEN, "written", "what it writes to the journal, padded to whole blocks"),
        written_on_device(),
        neutral(time(MODELLED, "modelled", "what a modelled device added")),
        time(RECOVERY, "recovery", "replaying the transaction from the journal, in memory by then"),
        FigureDescription {
            unit: Unit::MegabytesPerSecond,
            better: Better::More,
            ..figure(RECOVERY_SPEED, "recovery MB/s", "the same, in bytes of whole pages")
        },
        neutral(percent(COMPRESSED, "compressed", "how much of the journal a btrfs compressed")),
        percent(STORED, "stored", "what a btrfs stores of the journal, by its own account"),
        largest(hidden(figure(
            NOT_COMPRESSED,
            "not compressed",
            "whether a btrfs compressed nothing of it",
        ))),
    ]
}

/// The parts of the time, which reports draw.
fn parts() -> impl Iterator<Item = FigureDescription> {
    let all = WALL.into_iter().chain(CPU);
    all.map(|[name, title, about]| hidden(time(name, title, about)))
}

/// What it comes to per transaction.
fn bytes(name: &str, title: &str, about: &str) -> FigureDescription {
    per_operation(specs::bytes(name, title, about))
}

fn time(name: &str, title: &str, about: &str) -> FigureDescription {
    per_operation(specs::time(name, title, about))
}
