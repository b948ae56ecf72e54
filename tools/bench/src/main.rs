//! `cargo xtask bench`: figures that a shared and noisy machine must not turn into failed
//! tests. Each bench is a file; xtask builds this program with optimisation.

// Benches speak to the developer who runs them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod advice;
mod check;
mod clients;
mod ended;
mod fio;
mod harness;
mod journal;
mod journal_crashes;
mod kill;
mod load;
mod neighbour;
mod profiles;
mod promises;
mod ranks;
mod record;
mod repeat;
mod replay;
mod spread;
mod states;
mod store;
mod turns;
mod verdicts;
mod verify;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};

fn main() -> ExitCode {
    match run(&Cli::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measure what is too heavy or too noisy for a test
#[derive(Parser)]
#[command(name = "cargo xtask bench", disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// What timing every operation costs: iotoll against a bare loop and fio
    Harness(harness::Args),
    /// The study blocks beside fio: the same IOPS for the same I/O
    Fio(fio::Args),
    /// `iotoll check` beside `pg_test_fsync`, ioping and fio, and on FUSE places with planted syncs
    Check(check::Args),
    /// Ranks of MPI beside clients of fio and native writers: the same for the same I/O
    Clients(clients::Args),
    /// What a thousand simulated ranks cost rank 0, and whether their verdicts are right
    Ranks(ranks::Args),
    /// The load generator beside wrk, ab, oha and httperf
    Load(load::BenchLoadArgs),
    /// What a run does to the syncs of whoever works beside it
    Neighbour(neighbour::Args),
    /// How often usual ways to compare, and ours, are wrong about recorded blocks
    Verdicts(verdicts::Args),
    /// How fast records are accounted for, and that none breaks that must not
    Verify(verify::Args),
    /// Whether the intervals of one run hold the estimates of the next
    Repeat(repeat::Args),
    /// Places that are slow for ten seconds and fast for ten: false verdicts, and intervals
    States(states::Args),
    /// What recording costs the program that is recorded, and that no call is lost
    Record(record::Args),
    /// The loop that `record` times
    #[command(hide = true)]
    RecordLoop(record::LoopArgs),
    /// Says how much processor time a command uses, for `record`
    #[command(hide = true)]
    RecordUsed(record::UsedArgs),
    /// The calls that `record` looks for
    #[command(hide = true)]
    RecordStorm(record::StormArgs),
    /// What `iotoll try` says of programs, and what moving them really saves
    Advice(advice::Args),
    /// Real programs beside the replays of their recordings, and what moving them saves
    Replay(replay::Args),
    /// How long listing a thousand saved runs and showing one takes
    Store(store::Args),
    /// What strategies promise at a power failure, tried on file systems over a disk of ours
    Promises(promises::Args),
    /// The commits of real programs, recorded again for `iotoll check`
    Profiles(profiles::Args),
    /// The disk that `promises` writes to
    #[command(hide = true)]
    PromisesDisk(promises::device::Args),
    /// Runs killed at random moments: that nothing is left, and what was complete is kept
    Kill(kill::Args),
    /// The page journal beside SQLite, LMDB, redb and `RocksDB`: the same commits, each synced
    Journal(journal::Args),
    /// Crashes of the page journal on a simulated file system: what was committed is there
    JournalCrashes(journal_crashes::Args),
    /// A process that does some of the kills
    #[command(hide = true)]
    KillLane(kill::LaneArgs),
    /// The child whose memory `harness` looks at
    #[command(hide = true)]
    HeldMemory(harness::memory::Args),
    /// The process in which `harness` has slices run
    #[command(name = "__slices", hide = true)]
    Slices,
}

fn run(what: &Bench) -> Result<()> {
    match what {
        // Nothing is timed by these.
        Bench::Kill(args) => kill::run(args),
        Bench::Advice(args) => advice::run(args),
        // By programs of their own, which are built for it.
        Bench::Journal(args) => journal::run(args),
        Bench::KillLane(args) => kill::run_lane(args),
        Bench::Promises(args) => promises::run(args),
        Bench::Profiles(args) => profiles::run(args),
        Bench::PromisesDisk(args) => promises::device::run(args),
        // By a program that was named.
        Bench::Check(args) if args.iotoll.is_some() => check::run(args),
        // Nothing is measured.
        Bench::Repeat(args) if !args.files.is_empty() => repeat::run(args),
        _ if cfg!(debug_assertions) => {
            bail!("figures of a build without optimisation mean nothing: use `cargo xtask bench`")
        }
        Bench::Check(args) => check::run(args),
        Bench::Clients(args) => clients::run(args),
        Bench::Ranks(args) => ranks::run(args),
        Bench::Fio(args) => fio::run(args),
        Bench::Harness(args) => harness::run(args),
        Bench::JournalCrashes(args) => journal_crashes::run(args),
        Bench::Load(args) => load::run(args),
        Bench::Neighbour(args) => neighbour::run(args),
        Bench::Verdicts(args) => verdicts::run(args),
        Bench::Verify(args) => verify::run(args),
        Bench::Repeat(args) => repeat::run(args),
        Bench::States(args) => states::run(args),
        Bench::Record(args) => record::run(args),
        Bench::RecordLoop(args) => record::run_loop(args),
        Bench::RecordUsed(args) => record::run_used(args),
        Bench::RecordStorm(args) => record::run_storm(args),
        Bench::Replay(args) => replay::run(args),
        Bench::Store(args) => store::run(args),
        Bench::HeldMemory(args) => harness::memory::child(args),
        Bench::Slices => match studies::run_slices() {
            Ok(served) => Ok(served?),
            Err(studies::NotStartedByARun) => anyhow::bail!("`harness` starts this one"),
        },
    }
}
