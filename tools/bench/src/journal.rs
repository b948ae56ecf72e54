//! `cargo xtask bench journal`: the page journal's store beside other engines, on the same
//! work at equal durability.
//!
//! Every engine commits the same recorded transactions, each of which is on the device when
//! the commit returns. They take turns: in each block every engine commits its next stretch,
//! in an order that is drawn anew, so that whatever else the machine does meets all alike,
//! and all are equally full. What is compared is the time of a stretch within a block, by the
//! interval of the median. What an engine does in the background is waited for behind its
//! stretch, outside the clock; its processor time and its bytes count.
//!
//! Syncs are counted in the engines' processes. Where a commit of one usually makes another
//! number of them than ours, they are not held against each other. LMDB makes two, and so is
//! there a second time, with one: that is less than a durable commit, and at least as fast.
//!
//! At the end each engine is opened again, and all items are compared.
//!
//! Besides, there is what the library promises by itself, by whole pages, these compressed by
//! LZ4, the way that writes least and the fastest: bytes in the journal, the time of a commit,
//! and of recovery. No checkpoint is made there, so that the journal keeps everything.

mod engines;
mod race;
mod told;

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use units::count;

use crate::spread::ROUNDS_MIN;
use engines::{Program, Work};
use race::{Entry, Race};

/// Items in a transaction.
const IN_ONE: u64 = 100;
const QUICK: (u64, usize) = (50_000, 10);

const ENGINES: [Entry; 6] = [
    Entry { engine: "ours-best", title: "ours, differences, zstd" },
    Entry { engine: "ours-pages", title: "ours, whole pages" },
    Entry { engine: "sqlite", title: "SQLite, WAL, synchronous=FULL" },
    Entry { engine: "lmdb", title: "LMDB" },
    Entry { engine: "lmdb-one-sync", title: "LMDB, one sync (less durable)" },
    Entry { engine: "redb", title: "redb" },
];
const ROCKSDB: [Entry; 2] = [
    Entry { engine: "rocksdb", title: "RocksDB" },
    Entry { engine: "rocksdb-zstd", title: "RocksDB, WAL by zstd" },
];
const JOURNALS: [Entry; 5] = [
    Entry { engine: "journal-best", title: "differences, zstd" },
    Entry { engine: "journal-fast", title: "differences, LZ4, direct" },
    Entry { engine: "journal-pages-direct", title: "whole pages, direct" },
    Entry { engine: "journal-lz4", title: "whole pages, LZ4" },
    Entry { engine: "journal-pages", title: "whole pages" },
];
const SEQUENTIAL: [Entry; 1] =
    [Entry { engine: "journal-pages", title: "whole pages, keys in order" }];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory to measure in; it takes some 5 GB there
    #[arg(long, value_name = "DIR", default_value = ".")]
    place: PathBuf,

    /// Items that each engine is given, 100 in a transaction
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    items: u64,

    /// Blocks, in each of which every engine does its share
    #[arg(long, value_name = "N", default_value_t = 25)]
    blocks: usize,

    /// A tenth of the items, in 10 blocks
    #[arg(long, conflicts_with_all = ["items", "blocks"])]
    quick: bool,

    /// Do without `RocksDB`, which must be installed
    #[arg(long)]
    without_rocksdb: bool,

    /// What keys and values follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let (items, blocks) = if args.quick { QUICK } else { (args.items, args.blocks) };
    let commits = items.div_ceil(IN_ONE);
    ensure!(blocks >= ROUNDS_MIN, "an interval takes {ROUNDS_MIN} blocks or more");
    ensure!(commits >= blocks as u64, "{commits} transactions are too few for {blocks} blocks");
    let program = Program::build(!args.without_rocksdb)?;
    let folder = tempfile::tempdir_in(&args.place).context("making a folder for all engines")?;
    println!(
        "{} commits of {IN_ONE} items by each engine, in {blocks} blocks, in {}",
        count(commits),
        args.place.display()
    );
    println!("load of the machine before: {}", load()?);
    let work = Work { keys: "random", items, in_one: IN_ONE, seed: args.seed };
    let race = Race { program: &program, place: folder.path(), commits, blocks };
    let with_rocksdb = ENGINES.iter().chain(ROCKSDB.iter().filter(|_| program.has_rocksdb));
    let engines = race.run(&work, with_rocksdb, false)?;
    told::engines(&engines);
    let journals = race.run(&work, &JOURNALS, true)?;
    let sequential = Work { keys: "sequential", ..work };
    let sequential = race.run(&sequential, &SEQUENTIAL, true)?;
    told::journals(journals.iter().chain(&sequential));
    println!("load of the machine after: {}", load()?);
    folder.close()?;
    told::expectations(&engines, &journals, &sequential)
}

/// How many processes ran or waited for a disk, over the last 1, 5 and 15 minutes.
fn load() -> Result<String> {
    let load = std::fs::read_to_string("/proc/loadavg").context("/proc/loadavg")?;
    Ok(load.split(' ').take(3).collect::<Vec<_>>().join(", "))
}
