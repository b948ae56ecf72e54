//! `cargo xtask bench harness`: what the harness itself costs.
//!
//! Contenders append 70-byte records to fresh files on one place. What is
//! compared is the ratio of their times within a round, so that whatever else
//! the machine does meets both alike. A second bare loop shows what is
//! left of it: its ratio to the first would be 1 on a quiet machine.
//!
//! A round is cut into short turns, in a new random order each time, for on a
//! busy machine a turn that fits between two switches of the scheduler is the
//! one that tells something. fio takes too long to start to be cut; its one
//! turn in a round is held against the mean of the others' turns.

mod contenders;
mod fio;
pub(crate) mod memory;
mod record;
mod spread;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use engine::slice_timer::SliceTimer;
use host::clock;
use places::WorkDir;
use process::StopFlag;
use rand::Rng as _;

use contenders::Contender::{
    self, Bare, BareAgain, BareThreads, Clock, Fio, FioLean, Hdr, Iotoll, Ours,
};
use contenders::{Stage, Timer};
use spread::Spread;

use crate::turns::in_any_order;

/// Into so many turns a round is cut.
const TURNS: u64 = 10;

/// At most so much longer than a bare loop may an operation of `log/held` take.
const OVER_BARE_MAX: f64 = 1.05;
/// At least so many times fio's operations per second must `log/held` do.
const OVER_FIO_MIN: f64 = 1.8;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory to measure in
    #[arg(long, value_name = "DIR", default_value = ".")]
    place: PathBuf,

    /// Rounds
    #[arg(long, value_name = "N", default_value = "40")]
    rounds: NonZeroUsize,

    /// Operations of each contender in each round
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = whole_turns)]
    operations: u64,

    /// Operations during which memory is watched; 0 to leave that out
    #[arg(long, value_name = "N", default_value_t = 100_000_000)]
    memory_operations: u64,
}

/// Reads a number of operations that turns can share.
fn whole_turns(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(operations) if operations > 0 && operations % TURNS == 0 => Ok(operations),
        _ => Err(format!("it must be a multiple of {TURNS} above 0")),
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    println!(
        "{} rounds of {} appends of {} bytes in {}",
        args.rounds,
        args.operations,
        record::RECORD_BYTES,
        args.place.display()
    );
    let work = WorkDir::create("bench", &args.place)?;
    let clock = clock::Clock::new();
    let mut timer = SliceTimer::new(clock.clone(), StopFlag::default());
    let mut bench = Bench::new(Contender::all());
    let mut stage = Stage::new(&work, &clock)?;
    bench.round(&mut stage, args.operations).context("warming up")?;
    bench.forget();
    for number in 1..=args.rounds.get() {
        eprint!("\rround {number} of {}", args.rounds);
        bench.round(&mut stage, args.operations)?;
    }
    eprintln!();
    drop(stage);
    let mut met = bench.report();
    print_timers(&clock, &mut timer, args.rounds.get())?;
    work.remove()?;
    if args.memory_operations > 0 {
        met &= memory::parent(&args.place, args.memory_operations)?;
    }
    ensure!(met, "a target was missed");
    Ok(())
}

/// The contenders, and the time per operation of each of their turns.
struct Bench {
    contenders: Vec<Contender>,
    times_ns: Vec<Vec<f64>>,
}

impl Bench {
    fn new(contenders: Vec<Contender>) -> Self {
        let times_ns = vec![Vec::new(); contenders.len()];
        Self { contenders, times_ns }
    }

    fn forget(&mut self) {
        self.times_ns.iter_mut().for_each(Vec::clear);
    }

    /// So many operations of each contender.
    fn round(&mut self, stage: &mut Stage<'_>, operations: u64) -> Result<()> {
        stage.begin_round();
        let whole_at = rand::rng().random_range(0..TURNS);
        for turn in 0..TURNS {
            for index in in_any_order(self.contenders.len()) {
                let contender = self.contenders[index];
                let operations = match (contender.is_program(), turn == whole_at) {
                    (false, _) => operations / TURNS,
                    (true, true) => operations,
                    (true, false) => continue,
                };
                let time_ns = stage.turn(contender, operations);
                self.times_ns[index].push(time_ns.with_context(|| contender.name().to_owned())?);
            }
        }
        Ok(())
    }

    /// Prints times and ratios; whether the targets are met.
    fn report(&self) -> bool {
        println!("\n{:<50} {:>7} {:>7} {:>7}", "time per operation, ns", "median", "5%", "95%");
        for (contender, times_ns) in self.contenders.iter().zip(&self.times_ns) {
            println!("  {:<48} {:>7.0}", contender.name(), Spread::of(times_ns.iter().copied()));
        }
        println!("\nratio within a round");
        let to_bare = self.ratio("time, iotoll / bare", Iotoll, Bare);
        self.ratio("time, bare beside a second thread / bare", BareThreads, Bare);
        self.ratio("time, bare again / bare: the noise that is left", BareAgain, Bare);
        self.ratio("time, bare reading the clock / bare", Clock, Bare);
        self.ratio("time, bare timed into our histogram / bare", Ours, Bare);
        self.ratio("time, bare timed into hdrhistogram / bare", Hdr, Bare);
        let to_fio = self.ratio("operations per second, iotoll / fio", Fio, Iotoll);
        self.ratio("operations per second, iotoll / fio untimed", FioLean, Iotoll);
        println!("\ntargets");
        let is_light = to_bare.is_none_or(|ratio| ratio <= OVER_BARE_MAX);
        let is_fast = to_fio.is_none_or(|ratio| ratio >= OVER_FIO_MIN);
        println!("  iotoll / bare at most {OVER_BARE_MAX:.2}: {}", word(to_bare, is_light));
        println!("  iotoll / fio at least {OVER_FIO_MIN:.2}: {}", word(to_fio, is_fast));
        is_light && is_fast
    }

    /// Prints the ratio of two contenders' times; its median, if both took part.
    fn ratio(&self, name: &str, above: Contender, below: Contender) -> Option<f64> {
        let times_ns = |wanted| {
            let index = self.contenders.iter().position(|c| *c == wanted);
            index.map(|index| &self.times_ns[index])
        };
        let (above, below) = (times_ns(above)?, times_ns(below)?);
        let pairs = above.len().min(below.len());
        let (above, below) = (means(above, pairs), means(below, pairs));
        let spread = Spread::of(above.zip(below).map(|(above, below)| above / below));
        println!("  {name:<48} {spread:>7.3}  n={pairs}");
        Some(spread.median)
    }
}

/// The means of so many consecutive parts.
fn means(values: &[f64], parts: usize) -> impl Iterator<Item = f64> {
    let len = values.len() / parts;
    values.chunks_exact(len).map(move |part| part.iter().sum::<f64>() / len as f64)
}

fn word(figure: Option<f64>, is_met: bool) -> &'static str {
    match figure {
        None => "NOT MEASURED, for fio is not installed (Debian package fio)",
        Some(_) if is_met => "met",
        Some(_) => "MISSED",
    }
}

/// What timing costs without anything to time.
fn print_timers(clock: &clock::Clock, timer: &mut SliceTimer, rounds: usize) -> Result<()> {
    println!("\ntiming alone, ns per operation");
    for way in Timer::ALL {
        let times_ns = (0..rounds).map(|_| way.time_ns(clock, timer));
        let spread = Spread::of(times_ns.collect::<Result<Vec<_>>>()?);
        println!("  {:<48} {spread:>7.1}", way.name());
    }
    Ok(())
}
