//! `cargo xtask bench states`: places that are slow for ten seconds and fast for the next ten.
//!
//! Both places are FUSE file systems in memory whose syncs take some milliseconds. Those of the
//! second take a tenth less and a tenth more in turn, ten seconds each, so that both are equal in
//! the long run. A verdict that tells them apart is false. Then the second is made slower by a
//! known share, and each interval must hold it.

pub(crate) mod slow_disk;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use analysis::analyse;
use anyhow::{Context as _, Result, ensure};
use model::analysis::{Comparison, Verdict};

use crate::repeat;
use xtask::process;

/// How long a sync takes.
const SYNC: Duration = Duration::from_millis(2);
/// How long a state lasts, and by how much it is off.
const STATE: Duration = Duration::from_secs(10);
const OFF: f64 = 0.1;
/// By how much the second place is made slower.
const PLANTED: [f64; 5] = [0.04, 0.06, 0.10, 0.20, 0.50];
/// So many of 20 runs may be false.
const FALSE_MAX: f64 = 1.0 / 20.0;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Runs of two equal places
    #[arg(long, value_name = "N", default_value_t = 20)]
    runs: usize,
    /// The budget of each run
    #[arg(long, value_name = "TIME", default_value = "30s")]
    budget: String,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    slow_disk::keep_to_ourselves()?;
    let iotoll = process::build_release_iotoll()?;
    let mut wrong = 0;
    for number in 1..=args.runs {
        let found = one(&iotoll, &args.budget, 0.0)?;
        let is_wrong = matches!(found.verdict, Verdict::Faster | Verdict::Slower);
        wrong += usize::from(is_wrong);
        println!("equal, run {number}: {}", told(&found, 1.0));
    }
    let mut missed = 0;
    for planted in PLANTED {
        let found = one(&iotoll, &args.budget, planted)?;
        missed += usize::from(!holds(&found, 1.0 + planted));
        println!("+{:.0}%: {}", 100.0 * planted, told(&found, 1.0 + planted));
    }
    println!("{wrong} of {} runs of equal places false; {missed} intervals missed", args.runs);
    ensure!(wrong as f64 <= (FALSE_MAX * args.runs as f64).floor(), "too many false verdicts");
    ensure!(missed == 0, "an interval misses what was planted");
    Ok(())
}

/// What a run says of two such places, of which the second is slower by this share.
fn one(iotoll: &Path, budget: &str, slower: f64) -> Result<Comparison> {
    let work = tempfile::tempdir()?;
    let folder = |name: &str| -> Result<_> {
        let folder = work.path().join(name);
        std::fs::create_dir(&folder)?;
        Ok(folder)
    };
    let (steady, changing) = (folder("steady")?, folder("changing")?);
    let result = work.path().join("result.json");
    let _steady = slow_disk::mount(&steady, Box::new(|_| SYNC))?;
    let of_state = move |since: Duration| {
        let is_slow = (since.as_secs() / STATE.as_secs()).is_multiple_of(2);
        SYNC.mul_f64((1.0 + slower) * if is_slow { 1.0 + OFF } else { 1.0 - OFF })
    };
    let _changing = slow_disk::mount(&changing, Box::new(of_state))?;
    let place = |name: &str, folder: &Path| format!("{name}={}", folder.display());
    let mut compare = Command::new(iotoll);
    compare.args(["compare", &place("steady", &steady), &place("changing", &changing)]);
    compare.args(["--study", "log", "--strategy", "held", "--set", "log.sync=each"]);
    compare.args(["--budget", budget, "--no-save", "--json"]).arg(&result).stdout(Stdio::null());
    process::succeed(&mut compare)?;
    analyse(&repeat::read(&result)?).comparisons.into_iter().next().context("nothing was compared")
}

/// Whether its interval holds that ratio; one without a bound does.
fn holds(found: &Comparison, ratio: f64) -> bool {
    found.ratio_low.is_none_or(|low| low <= ratio)
        && found.ratio_high.is_none_or(|high| ratio <= high)
}

fn told(found: &Comparison, planted: f64) -> String {
    let bound = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), |b| format!("{b:.3}"));
    format!(
        "{:?} {} ({} to {}), {} {planted}",
        found.verdict,
        bound(found.ratio),
        bound(found.ratio_low),
        bound(found.ratio_high),
        if holds(found, planted) { "holds" } else { "misses" },
    )
}
