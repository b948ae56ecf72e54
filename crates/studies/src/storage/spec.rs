//! The study's names and numbers, as the user meets them.

use std::sync::LazyLock;

use model::case::Case;
use model::strategy::Recipe;
use model::study::StudyDescription;

use super::programs;
use crate::blocks;
use crate::choices::strategies;
use crate::specs::{choice, count, param, size};

/// What an append of the study's own promises once it is synced.
const LASTS: &str = "power failure: nothing acknowledged is lost, provided that the device honours \
                     flushes";

strategies! {
    /// One thing that storage is asked for.
    pub(super) enum Strategy {
        Fsync = "fsync", by_default {
            label: "fsync",
            about: "append `bytes`, then fsync(2); latencies are those of the sync alone",
            promises: LASTS, syncs: Always, relies_on: [], params: ["bytes"], needs: None,
            recipe: Recipe::AsItIs,
        }
        Fdatasync = "fdatasync", by_default {
            label: "fdatasync",
            about: "the same with fdatasync(2)",
            promises: LASTS, syncs: Always, relies_on: [], params: ["bytes"], needs: None,
            recipe: Recipe::AsItIs,
        }
        Append = "append", by_default {
            label: "append, not synced",
            about: "append `bytes` and leave them in memory",
            promises: "power failure: data not yet written back is lost",
            syncs: Never, relies_on: [], params: ["bytes"], needs: None, recipe: Recipe::AsItIs,
        }
        Replace = "replace", by_default {
            label: "replace a file durably",
            about: "write a new file, fsync(2) it, rename(2) it to its place, fsync(2) the folder",
            promises: "readers see the old file or the new one, also after a power failure",
            syncs: Always, relies_on: [], params: ["bytes"], needs: None, recipe: Recipe::AsItIs,
        }
        ReplaceCached = "replace-cached", by_default {
            label: "replace a file, not synced",
            about: "the same without the syncs",
            promises: "readers see the old file or the new one; after a power failure a file may \
                       be empty, cut short or zeros",
            syncs: Never, relies_on: [], params: ["bytes"], needs: None, recipe: Recipe::AsItIs,
        }
        Read = "read", by_default {
            label: "random reads of the device",
            about: "read 4 KiB at random with O_DIRECT, several at a time (`depth`) with io_uring",
            promises: "", syncs: Never, relies_on: [], params: ["depth"], needs: None,
            recipe: Recipe::AsItIs,
        }
        ReadCached = "read-cached", by_default {
            label: "random reads of the page cache",
            about: "read 4 KiB at random from a file that is in memory",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: Recipe::AsItIs,
        }
        ReadSequential = "read-sequential", by_default {
            label: "sequential read of the device",
            about: "read(2) 1 MiB after the other of a file that was evicted from memory",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: Recipe::AsItIs,
        }
        ReadSequentialCached = "read-sequential-cached", by_default {
            label: "sequential read of the page cache",
            about: "the same of a file that is in memory",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: Recipe::AsItIs,
        }
        WriteSequential = "write-sequential", by_default {
            label: "sequential write to the device",
            about: "write(2) 1 MiB after the other, then fdatasync(2)",
            promises: "", syncs: Always, relies_on: [], params: [], needs: None,
            recipe: Recipe::AsItIs,
        }
        WriteSequentialCached = "write-sequential-cached", by_default {
            label: "sequential write to the page cache",
            about: "the same without the sync",
            promises: "", syncs: Never, relies_on: [], params: [], needs: None,
            recipe: Recipe::AsItIs,
        }
        Program = "program", by_name {
            label: "a program's commits",
            about: "the calls with which `program` makes a commit last, as they were recorded",
            promises: LASTS, syncs: Always, relies_on: [],
            params: ["program"], needs: None, recipe: Recipe::AsItIs,
        }
    }
}

const SMALL: &[(&str, &str)] = &[("bytes", "512 B")];

pub(super) const CASES: &[Case] = &[
    Case::of("fsync", SMALL).calls_fail().killed().footprint(20),
    Case::of("fdatasync", SMALL).calls_fail().footprint(20),
    Case::of("append", SMALL).calls_fail().killed().footprint(200),
    Case::of("replace", SMALL).calls_fail().killed().footprint(10),
    Case::of("replace-cached", SMALL).calls_fail().footprint(20),
    Case::of("read", &[]).footprint(100),
    Case::of("read-cached", &[]).footprint(100),
    Case::of("read-sequential", &[]).footprint(8),
    Case::of("read-sequential-cached", &[]).footprint(8),
    Case::of("write-sequential", &[]).footprint(4),
    Case::of("write-sequential-cached", &[]).footprint(4),
    Case::of("program", &[]).footprint(20),
];

static PROGRAMS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| programs::all().iter().map(|known| known.program.name.as_str()).collect());

pub(super) static SPEC: LazyLock<StudyDescription> = LazyLock::new(|| {
    StudyDescription {
        by_default: false,
        details: "`iotoll check` is made of these: syncs of small appends, files that are replaced \
                  durably, reads and writes in order and at random, each also from the page cache, \
                  and the commits of programs as they were recorded. An operation is one of \
                  these. Latencies of `fsync`, `fdatasync` and `program` are those of the syncs \
                  alone. Reads have one file for each place, which is written once.",
        params: vec![
            param(
                "bytes",
                "fsync, fdatasync, append, replace: what is written",
                size(1, 1 << 20, "4 KiB"),
            ),
            param("depth", "read: how many blocks are under way at a time", count(1, 1024, "1")),
            param(
                "program",
                "program: whose commits are made",
                choice(&PROGRAMS, PROGRAMS.first().copied().unwrap_or_default()),
            ),
        ],
        figures: blocks::figures(),
        ..StudyDescription::new(
            "storage",
            "ask storage for one thing at a time, as `iotoll check` does",
            "operation",
        )
    }
    .with_strategies(Strategy::descriptions())
});
