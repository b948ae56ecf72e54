//! `cargo xtask bench neighbour`: what a run does to whoever works beside it.
//!
//! A neighbour appends a block to a log and syncs it, at a fixed rate, in the place that
//! a run measures. Beside it are a run and a gentle one, both begun once and stopped
//! (`SIGSTOP`) but for stretches of some seconds: in each round the neighbour has nobody
//! beside it, then nobody again, the run, and the gentle run, in an order drawn for each
//! round, so that whatever else the machine is at meets all alike. The 99th percentiles
//! are those of all rounds together, for one stretch has too few slow syncs to tell. That
//! of nobody again, held against that of nobody, shows what is chance.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rand::Rng as _;
use rustix::process::{Pid, Signal, kill_process};
use stats::Histogram;

use crate::turns::in_any_order;
use xtask::process;

/// The neighbour's block.
const BLOCK_BYTES: usize = 4096;
/// A gentle run may make the neighbour's 99th percentile longer by no more than this.
const RATIO_MAX: f64 = 1.10;
/// After a run is stopped or goes on, for what it was at to end.
const SETTLING: Duration = Duration::from_millis(100);
/// Times that rounds are drawn anew from those that there were, for the interval of a ratio.
const RESAMPLES: usize = 2000;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rounds, each with nobody, nobody again, a run and a gentle run beside the neighbour
    #[arg(long, value_name = "N", default_value_t = 20)]
    rounds: usize,
    /// How long each of the four lasts in a round, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    seconds: u64,
    /// The neighbour's syncs in a second
    #[arg(long, value_name = "N", default_value_t = 50)]
    rate: u32,
    /// Where the neighbour and the runs are
    #[arg(long, value_name = "DIR", default_value = ".")]
    place: PathBuf,
    /// Go by what was measured, and fail for nothing
    #[arg(long)]
    no_target: bool,
}

/// Who is beside the neighbour.
const BESIDE: [&str; 4] = ["nobody", "nobody again", "compare", "compare --gentle"];

/// What the neighbour's syncs took in a round beside each.
type Round = [Histogram; BESIDE.len()];

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.rounds > 0 && args.seconds > 0 && args.rate > 0, "each must be at least 1");
    let iotoll = process::build_release_iotoll()?;
    let folder = tempfile::tempdir_in(&args.place).context("making the neighbour's folder")?;
    let place = folder.path();
    println!(
        "{} syncs a second of {BLOCK_BYTES} bytes; {} rounds of {} s beside each",
        args.rate, args.rounds, args.seconds
    );
    let usual = Stopped::start(&iotoll, args, place, &[])?;
    let gentle = Stopped::start(&iotoll, args, place, &["--gentle"])?;
    let beside = [None, None, Some(&usual), Some(&gentle)];
    let mut rounds = Vec::new();
    for _ in 0..args.rounds {
        rounds.push(one_round(args, &beside, &place.join("neighbour.log"))?);
    }
    tell(&rounds);
    let (_, low, _) = ratio(&rounds, BESIDE.len() - 1);
    if low > RATIO_MAX && !args.no_target {
        bail!(
            "beside a gentle run the p99 is ×{low:.2} at least, and ×{RATIO_MAX:.2} is the target"
        );
    }
    Ok(())
}

/// What the syncs took beside each, and the ratios of their 99th percentiles.
fn tell(rounds: &[Round]) {
    println!("{:<17} {:>8} {:>8} {:>8} {:>8} {:>8}", "µs", "syncs", "p50", "p90", "p99", "p99.9");
    for (index, name) in BESIDE.iter().enumerate() {
        let all = pooled(rounds.iter(), index);
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(|q| all.quantile(q) / 1e3);
        println!("{name:<17} {:>8} {p50:>8.0} {p90:>8.0} {p99:>8.0} {p999:>8.0}", all.count());
    }
    for (index, name) in BESIDE.iter().enumerate().skip(1) {
        let (ratio, low, high) = ratio(rounds, index);
        println!("p99 beside {name}: ×{ratio:.2} [{low:.2}–{high:.2}]");
    }
}

/// The 99th percentile beside one against that beside nobody, and within what it lies by
/// bootstrap over the rounds, with 95%.
fn ratio(rounds: &[Round], index: usize) -> (f64, f64, f64) {
    let of = |rounds: &[&Round]| {
        let p99 = |index| pooled(rounds.iter().copied(), index).quantile(0.99);
        p99(index) / p99(0)
    };
    let mut random = rand::rng();
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            of(&rounds
                .iter()
                .map(|_| &rounds[random.random_range(0..rounds.len())])
                .collect::<Vec<_>>())
        })
        .collect();
    resampled.sort_by(f64::total_cmp);
    let at = |q: f64| resampled[((RESAMPLES - 1) as f64 * q) as usize];
    (of(&rounds.iter().collect::<Vec<_>>()), at(0.025), at(0.975))
}

fn pooled<'a>(rounds: impl Iterator<Item = &'a Round>, index: usize) -> Histogram {
    let mut all = Histogram::new();
    for round in rounds {
        all.merge(&round[index]);
    }
    all
}

fn one_round(args: &Args, beside: &[Option<&Stopped>; BESIDE.len()], log: &Path) -> Result<Round> {
    let mut round = [(); BESIDE.len()].map(|()| Histogram::new());
    for index in in_any_order(BESIDE.len()) {
        if let Some(run) = beside[index] {
            run.signal(Signal::CONT)?;
        }
        let until = Instant::now() + Duration::from_secs(args.seconds);
        round[index] = neighbour(log, args.rate, &mut || Instant::now() >= until)?;
        if let Some(run) = beside[index] {
            run.signal(Signal::STOP)?;
            thread::sleep(SETTLING);
        }
    }
    Ok(round)
}

/// A run that is stopped, and ended when dropped.
struct Stopped(Child);

impl Stopped {
    fn start(iotoll: &Path, args: &Args, place: &Path, flags: &[&str]) -> Result<Self> {
        let mut command = Command::new(iotoll);
        command.arg("compare").arg(format!("disk={}", place.display())).arg("ram=/dev/shm");
        command.args(["--study", "log,sqlite,files", "--set", "log.sync=each", "--no-save"]);
        // Nothing is ever sure or precise enough to end before the budget does, and the
        // budget, of which the clock goes on while it is stopped, suffices for all.
        let budget = args.seconds.saturating_mul(args.rounds as u64).saturating_mul(8);
        command.args(["--threshold", "0.0001%", "--budget", &format!("{budget}s")]).args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let run = Self(command.spawn().context("starting iotoll")?);
        run.signal(Signal::STOP)?;
        Ok(run)
    }

    /// Fails where it has ended by itself.
    fn signal(&self, signal: Signal) -> Result<()> {
        let pid = Pid::from_child(&self.0);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        ensure!(!stat.contains(") Z "), "the run beside the neighbour has ended");
        Ok(kill_process(pid, signal)?)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // It may have ended by itself. Told to end, it removes what it made; SIGINT would be
        // ignored by what a shell started in the background.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = kill_process(Pid::from_child(&self.0), Signal::CONT);
        let _ = self.0.wait();
    }
}

/// Appends and syncs at a rate until it is over. One that is late does not hurry: what is
/// counted is what each sync takes.
fn neighbour(log: &Path, rate: u32, is_over: &mut dyn FnMut() -> bool) -> Result<Histogram> {
    let mut file = File::create(log)?;
    let block = [b'n'; BLOCK_BYTES];
    let apart = Duration::from_secs(1) / rate;
    let mut syncs = Histogram::new();
    let mut due = Instant::now();
    while !is_over() {
        due = (due + apart).max(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let began = Instant::now();
        file.write_all(&block)?;
        file.sync_all()?;
        syncs.record(began.elapsed().as_nanos() as u64);
    }
    Ok(syncs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_neighbour_syncs_at_its_rate_and_is_counted_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut left = 5;
        let syncs = neighbour(&folder.path().join("log"), 1000, &mut || {
            left -= 1;
            left < 0
        });
        assert_eq!(syncs.unwrap().count(), 5);
        let written = std::fs::metadata(folder.path().join("log")).unwrap().len();
        assert_eq!(written, 5 * BLOCK_BYTES as u64);
    }

    #[test]
    fn ratios_are_of_all_rounds_and_their_intervals_hold_them() {
        let taking = |ns: u64| {
            let mut syncs = Histogram::new();
            syncs.record_many(ns, 100);
            syncs
        };
        let rounds = [(); 5].map(|()| [1000, 1000, 3000, 1100].map(taking));
        let (ratio_of_run, low, high) = ratio(&rounds, 2);
        assert!((ratio_of_run - 3.0).abs() < 0.1 && low <= ratio_of_run && ratio_of_run <= high);
        assert!((ratio(&rounds, 3).1 - 1.1).abs() < 0.05);
    }
}
