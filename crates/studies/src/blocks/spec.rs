//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;

use model::case::Case;
use model::study::{FigureDescription, StudyDescription};

use crate::choices::{choices, strategies};
use crate::rules::{change, is, not, promise, where_set};
use crate::specs::{choice, count, neutral, param, per_second, percent, size};
use crate::{clients, drop_cache};

/// How much memory held of the file when the clock started.
pub(super) const RESIDENT: &str = model::figure::RESIDENT_BEFORE;
/// How much of what was read storage had to deliver.
pub(super) const FROM_STORAGE: &str = model::figure::READ_FROM_STORAGE;
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

strategies! {
    /// How a block is read or written.
    pub(super) enum Strategy {
        Buffered = "buffered", by_default {
            label: "through the page cache",
            about: "pread(2) or pwrite(2) through the page cache, one at a time",
            promises: CACHED, syncs: AsAsked, relies_on: [], params: ["cache"], needs: None,
            recipe: change(
                "open the file without O_DIRECT; pread(2) or pwrite(2) a block at a time",
                "grep flags /proc/PID/fdinfo/FD does not have 040000 (O_DIRECT)",
                "open the file with O_DIRECT",
            ),
        }
        Direct = "direct", by_default {
            label: "O_DIRECT",
            about: "the same with O_DIRECT, past the page cache",
            promises: DIRECT, syncs: AsAsked, relies_on: [], params: [], needs: None,
            recipe: change(
                "open the file with O_DIRECT, with buffers, offsets and sizes aligned to the \
                 device's sectors (InnoDB: innodb_flush_method=O_DIRECT)",
                "grep flags /proc/PID/fdinfo/FD has 040000 (O_DIRECT)",
                "open the file without O_DIRECT",
            ),
        }
        Uring = "uring", by_name {
            label: "io_uring, page cache",
            about: "io_uring through the page cache, `depth` at a time",
            promises: CACHED, syncs: AsAsked, relies_on: [], params: ["cache", "depth"],
            needs: None,
            recipe: change(
                "queue `depth` blocks with io_uring_prep_read or io_uring_prep_write, then \
                 io_uring_submit; queue another for each that completes",
                "strace -f -e io_uring_enter,pread64,pwrite64 -p PID shows io_uring_enter alone",
                "pread(2) or pwrite(2) a block at a time",
            ),
        }
        UringDirect = "uring-direct", by_default {
            label: "io_uring, O_DIRECT",
            about: "io_uring with O_DIRECT, `depth` at a time",
            promises: DIRECT, syncs: AsAsked, relies_on: [], params: ["depth"], needs: None,
            recipe: change(
                "open the file with O_DIRECT and aligned buffers; queue `depth` blocks with \
                 io_uring, and another for each that completes (PostgreSQL 18: io_method=io_uring \
                 queues, through the page cache)",
                "grep flags /proc/PID/fdinfo/FD has 040000, and strace -f -e io_uring_enter -p PID \
                 shows calls",
                "open the file without O_DIRECT; pread(2) or pwrite(2) a block at a time",
            ),
        }
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

pub(super) const CASES: &[Case] = &[
    Case::of("buffered", &[("file", "256 KiB")]).calls_fail(),
    Case::of(
        "buffered",
        &[("file", "256 KiB"), ("cache", "cold"), ("access", "mixed"), ("sync", "each")],
    )
    .variant("cold")
    .calls_fail(),
    Case::of("direct", &[("file", "256 KiB")]).calls_fail(),
    Case::of("uring", &[("file", "256 KiB"), ("depth", "4")]).calls_fail(),
    Case::of("uring-direct", &[("file", "256 KiB"), ("access", "mixed"), ("sync", "each")])
        .calls_fail(),
    Case::of("buffered", &[("file", "1 MiB")]).killed(),
    Case::of("uring-direct", &[("file", "1 MiB")]).killed(),
    Case::of("buffered", &[("access", "read"), ("file", "2 MiB")]).footprint(500),
    Case::of("direct", &[("access", "write"), ("file", "2 MiB")]).footprint(100),
    Case::of("uring", &[("access", "mixed"), ("file", "2 MiB"), ("mix", "0")]).footprint(512),
    Case::of("buffered", ONE_AT_A_TIME).power_cut(500),
    Case::of("buffered", ONE_SYNCED).variant("sync=each").power_cut(200),
    Case::of("direct", ONE_AT_A_TIME).power_cut(500),
    Case::of("direct", ONE_SYNCED).variant("sync=each").power_cut(200),
    Case::of("uring-direct", ONE_SYNCED).variant("sync=each").power_cut(200),
];
const ONE_AT_A_TIME: &[(&str, &str)] = &[("access", "write"), ("file", "2 MiB"), ("depth", "1")];
const ONE_SYNCED: &[(&str, &str)] =
    &[("access", "write"), ("file", "2 MiB"), ("depth", "1"), ("sync", "each")];

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        moves_bytes: true,
        by_default: false,
        compared: vec!["depth", "sync", CLIENTS_FILE],
        promise_when: vec![
            promise([is("access", &["read"])], ""),
            promise([is("sync", &["each"])], SYNCED),
        ],
        params: vec![
            param(
                "size",
                "size of a block; with O_DIRECT a multiple of the device's sectors",
                size(512, 16 << 20, "4 KiB"),
            ),
            param("access", "what is done with a block", choice(Access::NAMES, "read, write")),
            param(
                "order",
                "which block comes next; in a slice each has one turn at the most",
                choice(Order::NAMES, "random"),
            ),
            param(
                "mix",
                "mixed: how many of a hundred blocks are read; the others are written",
                count(0, 100, "70"),
            ),
            param(
                "depth",
                "uring, uring-direct: how many blocks are under way at a time",
                count(1, 1024, "16"),
            ),
            param(
                "file",
                "size of the file, of each client's part in one that several have; it is written \
                 in full before anything is timed",
                size(512, 64 << 30, "16 MiB"),
            ),
            drop_cache::param(
                "buffered, uring: whether the file is in memory or evicted from it; with O_DIRECT \
                 it is evicted always",
            ),
            param(
                "sync",
                "whether each write waits until it would outlast a power failure (O_DSYNC)",
                choice(Sync::NAMES, "never"),
            ),
            clients::param(),
            param(
                CLIENTS_FILE,
                "whether each of several clients has a file of its own, a stretch of its own in \
                 one file, or blocks all over one file, none of which another client has",
                choice(ClientsFile::NAMES, "own"),
            ),
        ],
        applies_when: vec![
            where_set(&[CLIENTS_FILE], [not("clients", "1")]),
            where_set(&["mix"], [is("access", &["mixed"])]),
            where_set(&["sync"], [not("access", "read")]),
        ],
        figures: [figures(), clients::figures()].concat(),
        details: "An operation reads or writes one block of a file that was written in full before. \
                  `blocks_per_s` has the IOPS. Each block has marks that say which it is, and what \
                  was written is read back after each slice.\n\n\
                  A write counts as done once the kernel has taken it, or with `O_DIRECT` the \
                  device, which may have a cache of its own. With `sync=each` a write returns when \
                  it would outlast a power failure.",
        ..StudyDescription::new(
            "blocks",
            "read or write a block of a large file, at random or in order",
            "block",
        )
    }
    .with_strategies(Strategy::descriptions())
});

/// What slices that move blocks tell.
pub(crate) fn figures() -> Vec<FigureDescription> {
    vec![
        per_second(IOPS, "IOPS", "blocks read and written per second"),
        neutral(percent(
            RESIDENT,
            "resident",
            "how much of the file was in memory when the clock started; files of a place in \
             memory always are",
        )),
        neutral(percent(
            FROM_STORAGE,
            "from storage",
            "share of what was read that had to come from storage; with read-ahead it may \
             exceed 100%",
        )),
    ]
}
