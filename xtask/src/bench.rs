//! `cargo xtask bench`: figures that a shared and noisy machine must not turn
//! into failed tests.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use clap::Subcommand;

use crate::{
    bench_clients, bench_fio, bench_harness, bench_journal, bench_journal_crashes, bench_kill,
    bench_load, bench_neighbour, bench_promises, bench_ranks, bench_record, bench_repeat,
    bench_replay, bench_store, bench_verdicts, bench_verify, process,
};

#[derive(Subcommand)]
pub(crate) enum Bench {
    /// What timing every operation costs: iotoll against a bare loop and fio
    Harness(bench_harness::Args),
    /// The study blocks beside fio: the same IOPS for the same I/O
    Fio(bench_fio::Args),
    /// Ranks of MPI beside clients of fio and native writers: the same for the same I/O
    Clients(bench_clients::Args),
    /// What a thousand simulated ranks cost rank 0, and whether their verdicts are right
    Ranks(bench_ranks::Args),
    /// The load generator beside wrk, ab, oha and httperf
    Load(bench_load::BenchLoadArgs),
    /// What a run does to the syncs of whoever works beside it
    Neighbour(bench_neighbour::Args),
    /// How often usual ways to compare, and ours, are wrong about recorded blocks
    Verdicts(bench_verdicts::Args),
    /// How fast records are accounted for, and that none breaks that must not
    Verify(bench_verify::Args),
    /// Whether the intervals of one run hold the estimates of the next
    Repeat(bench_repeat::Args),
    /// What recording costs the program that is recorded, and that no call is lost
    Record(bench_record::Args),
    /// The loop that `record` times
    #[command(hide = true)]
    RecordLoop(bench_record::LoopArgs),
    /// Says how much processor time a command uses, for `record`
    #[command(hide = true)]
    RecordUsed(bench_record::UsedArgs),
    /// The calls that `record` looks for
    #[command(hide = true)]
    RecordStorm(bench_record::StormArgs),
    /// Real programs beside the replays of their recordings, and what moving them saves
    Replay(bench_replay::Args),
    /// How long listing a thousand saved runs and showing one takes
    Store(bench_store::Args),
    /// What strategies promise at a power failure, tried on file systems over a disk of ours
    Promises(bench_promises::Args),
    /// The disk that `promises` writes to
    #[command(hide = true)]
    PromisesDisk(bench_promises::device::Args),
    /// Runs killed at random moments: that nothing is left, and what was complete is kept
    Kill(bench_kill::Args),
    /// The page journal beside SQLite, LMDB, redb and `RocksDB`: the same commits, each synced
    Journal(bench_journal::Args),
    /// Crashes of the page journal on a simulated file system: what was committed is there
    JournalCrashes(bench_journal_crashes::Args),
    /// A process that does some of the kills
    #[command(hide = true)]
    KillLane(bench_kill::LaneArgs),
    /// The child whose memory `harness` looks at
    #[command(hide = true)]
    HeldMemory(bench_harness::memory::Args),
}

pub(crate) fn run(what: &Bench) -> Result<()> {
    match what {
        // Nothing is timed by these.
        Bench::Kill(args) => bench_kill::run(args),
        // By programs of their own, which are built for it.
        Bench::Journal(args) => bench_journal::run(args),
        Bench::KillLane(args) => bench_kill::run_lane(args),
        Bench::Promises(args) => bench_promises::run(args),
        Bench::PromisesDisk(args) => bench_promises::device::run(args),
        _ if cfg!(debug_assertions) => again_in_release(),
        Bench::Clients(args) => bench_clients::run(args),
        Bench::Ranks(args) => bench_ranks::run(args),
        Bench::Fio(args) => bench_fio::run(args),
        Bench::Harness(args) => bench_harness::run(args),
        Bench::JournalCrashes(args) => bench_journal_crashes::run(args),
        Bench::Load(args) => bench_load::run(args),
        Bench::Neighbour(args) => bench_neighbour::run(args),
        Bench::Verdicts(args) => bench_verdicts::run(args),
        Bench::Verify(args) => bench_verify::run(args),
        Bench::Repeat(args) => bench_repeat::run(args),
        Bench::Record(args) => bench_record::run(args),
        Bench::RecordLoop(args) => bench_record::run_loop(args),
        Bench::RecordUsed(args) => bench_record::run_used(args),
        Bench::RecordStorm(args) => bench_record::run_storm(args),
        Bench::Replay(args) => bench_replay::run(args),
        Bench::Store(args) => bench_store::run(args),
        Bench::HeldMemory(args) => bench_harness::memory::child(args),
    }
}

/// Figures of an unoptimised build mean nothing. Replaces this process.
fn again_in_release() -> Result<()> {
    eprintln!("xtask: building in release mode, for the figures to mean something");
    let manifest = process::root().join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let error = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", "xtask", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(std::env::args_os().skip(1))
        .exec();
    Err(error).context("running cargo")
}
