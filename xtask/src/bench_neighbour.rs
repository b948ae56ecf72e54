//! `cargo xtask bench neighbour`: what a run does to whoever works beside it.
//!
//! A neighbour appends a block to a log and syncs it, at a fixed rate, in the place that a
//! run measures. What its syncs take is held against what they take with nobody beside it:
//! rounds of all three, in an order drawn for each, so that whatever else the machine is
//! at meets all alike.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rand::seq::SliceRandom as _;
use stats::Histogram;

use crate::process;

/// The neighbour's block.
const BLOCK_BYTES: usize = 4096;
/// A gentle run may make the neighbour's 99th percentile longer by no more than this.
const RATIO_MAX: f64 = 1.10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Rounds, each with nobody, a run and a gentle run beside the neighbour
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// How long each lasts, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    seconds: u64,
    /// The neighbour's syncs in a second
    #[arg(long, value_name = "N", default_value_t = 50)]
    rate: u32,
    /// Where the neighbour and the run are
    #[arg(long, value_name = "DIR", default_value = ".")]
    place: std::path::PathBuf,
    /// Go by what was measured, and fail for nothing
    #[arg(long)]
    no_target: bool,
}

/// Who is beside the neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Nobody,
    Run,
    GentleRun,
}

const ALL: [(Beside, &str); 3] =
    [(Beside::Nobody, "nobody"), (Beside::Run, "compare"), (Beside::GentleRun, "compare --gentle")];

pub(crate) fn run(args: &Args) -> Result<()> {
    ensure!(args.rounds > 0 && args.seconds > 0 && args.rate > 0, "each must be at least 1");
    let iotoll = process::release_iotoll()?;
    let folder = tempfile::tempdir_in(&args.place).context("making the neighbour's folder")?;
    println!(
        "{} syncs a second of {BLOCK_BYTES} bytes; {} rounds of {} s each; p50, p99 in µs",
        args.rate, args.rounds, args.seconds
    );
    let mut ratios = [Vec::new(), Vec::new()];
    for round in 0..args.rounds {
        let p99_ns = one_round(args, &iotoll, folder.path(), round)?;
        ratios[0].push(p99_ns[1] / p99_ns[0]);
        ratios[1].push(p99_ns[2] / p99_ns[0]);
    }
    for (ratios, (_, name)) in ratios.iter_mut().zip(&ALL[1..]) {
        ratios.sort_by(f64::total_cmp);
        let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
        println!("p99 beside {name}: ×{:.2} ({low:.2} to {high:.2})", middle(ratios));
    }
    let gentle = middle(&ratios[1]);
    if gentle > RATIO_MAX && !args.no_target {
        bail!("beside a gentle run the p99 is ×{gentle:.2}, and ×{RATIO_MAX:.2} is the target");
    }
    Ok(())
}

/// The 99th percentiles beside each, in the order of [`ALL`].
fn one_round(args: &Args, iotoll: &Path, folder: &Path, round: usize) -> Result<[f64; 3]> {
    let mut order = [0, 1, 2];
    order.shuffle(&mut rand::rng());
    let mut p99_ns = [0.0; 3];
    for index in order {
        let (beside, name) = ALL[index];
        let syncs = with(beside, args, iotoll, folder)?;
        p99_ns[index] = syncs.quantile(0.99);
        println!(
            "round {round}  {name:<17} {:>7} syncs {:>9.0} {:>9.0}",
            syncs.count(),
            syncs.quantile(0.5) / 1e3,
            p99_ns[index] / 1e3
        );
    }
    Ok(p99_ns)
}

/// What the neighbour's syncs take with that beside it.
fn with(beside: Beside, args: &Args, iotoll: &Path, folder: &Path) -> Result<Histogram> {
    let until = Instant::now() + Duration::from_secs(args.seconds);
    let log = folder.join("neighbour.log");
    if beside == Beside::Nobody {
        return neighbour(&log, args.rate, &mut || Ok(Instant::now() >= until));
    }
    let mut child = start(beside, args, iotoll, folder)?;
    let syncs = neighbour(&log, args.rate, &mut || Ok(child.0.try_wait()?.is_some()))?;
    let status = child.0.wait()?;
    ensure!(status.success(), "the run beside the neighbour ended with {status}");
    Ok(syncs)
}

/// A run, killed when dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(beside: Beside, args: &Args, iotoll: &Path, folder: &Path) -> Result<Killed> {
    let mut command = Command::new(iotoll);
    command.arg("compare").arg(format!("disk={}", folder.display())).arg("ram=/dev/shm");
    command.args(["--study", "log,sqlite,files", "--set", "log.sync=each"]);
    // Nothing is ever sure or precise enough to end before the budget does.
    command.args(["--worth", "0.0001%", "--budget", &format!("{}s", args.seconds)]);
    if beside == Beside::GentleRun {
        command.arg("--gentle");
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    Ok(Killed(command.spawn().context("starting iotoll")?))
}

/// Appends and syncs at a rate until it is over. One that is late does not hurry: what is
/// counted is what each sync takes.
fn neighbour(
    log: &Path,
    rate: u32,
    is_over: &mut dyn FnMut() -> Result<bool>,
) -> Result<Histogram> {
    let mut file = File::create(log)?;
    let block = [b'n'; BLOCK_BYTES];
    let apart = Duration::from_secs(1) / rate;
    let mut syncs = Histogram::new();
    let mut due = Instant::now();
    while !is_over()? {
        due = (due + apart).max(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let began = Instant::now();
        file.write_all(&block)?;
        file.sync_all()?;
        syncs.record(began.elapsed().as_nanos() as u64);
    }
    Ok(syncs)
}

fn middle(sorted: &[f64]) -> f64 {
    stats::median(&mut sorted.to_vec())
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
            Ok(left < 0)
        });
        assert_eq!(syncs.unwrap().count(), 5);
        let written = std::fs::metadata(folder.path().join("log")).unwrap().len();
        assert_eq!(written, 5 * BLOCK_BYTES as u64);
    }
}
