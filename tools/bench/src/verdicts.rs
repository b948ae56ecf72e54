//! `cargo xtask bench verdicts`: the same recorded blocks, given to the usual ways
//! to compare two programs and to ours. Blocks are drawn again from a record in
//! stretches, so that they keep their drift and resemble each other as they did
//! (moving-block bootstrap, Künsch 1989), and a known difference is added.

mod record;
mod ways;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::repeat;
use record::Record;
use ways::{Claim, Given, WAYS, Way};
use xtask::process;

/// Runs drawn from each record for each difference.
const RUNS: usize = 400;
/// The smallest difference that matters.
const THRESHOLD: f64 = 0.05;
/// By how much the other arm is made slower.
const PLANTED: [f64; 5] = [0.0, 0.03, 0.08, 0.12, 0.5];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Result files to draw from, instead of runs made for this
    results: Vec<PathBuf>,
    /// Directories to write logs in, if none is given
    #[arg(long, num_args = 1.., default_values = [".", "/dev/shm"])]
    places: Vec<PathBuf>,
    /// How long the run in each takes, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let records: Vec<_> = if args.results.is_empty() {
        args.places.iter().map(|place| measured(place, args.seconds)).collect::<Result<_>>()?
    } else {
        args.results.iter().map(|file| read(file)).collect::<Result<_>>()?
    };
    for (title, record) in &records {
        print!("{}", table(title, record));
    }
    Ok(())
}

/// A run of two equal arms, which goes on to the end of the time as there is
/// nothing to find.
fn measured(place: &Path, seconds: u64) -> Result<(String, Record)> {
    let iotoll = process::build_release_iotoll()?;
    let work = tempfile::tempdir_in(place).context("creating a directory to work in")?;
    let result = work.path().join("result.json");
    let mut compare = Command::new(&iotoll);
    compare.arg("compare");
    for arm in ["a", "b"] {
        let folder = work.path().join(arm);
        fs::create_dir(&folder)?;
        compare.arg(format!("{arm}={}", folder.display()));
    }
    compare.args(["--study", "log", "--strategy", "held", "--threshold", "0.1%"]);
    compare.args(["--budget", &format!("{seconds}s"), "--no-save", "--json"]).arg(&result);
    process::output(&mut compare)?;
    read(&result)
}

/// The blocks of a result file's first comparison, and what was compared.
fn read(file: &Path) -> Result<(String, Record)> {
    let run = repeat::read(file)?;
    let pair = *run.plan.pairs.first().context("nothing was compared")?;
    let record = Record::of(&run, pair);
    ensure!(
        record.len() >= record::BLOCKS_MIN,
        "{}: {} blocks; {} are needed",
        file.display(),
        record.len(),
        record::BLOCKS_MIN
    );
    let [base, other] = [pair.base, pair.other].map(|arm| &run.plan.arms[arm]);
    let on = &run.places[base.place].filesystem;
    Ok((format!("`{}` over `{}`, the base on {on}", other.id, base.id), record))
}

/// What each way makes of the record, as a table in Markdown.
fn table(title: &str, record: &Record) -> String {
    let mut table = format!(
        "\n{title}: {} blocks, spread {:.1}%, lag-1 autocorrelation {:.2}; {RUNS} runs drawn.\n\n\
         | way | slices of each arm |",
        record.len(),
        100.0 * record.spread(),
        record.resemblance(),
    );
    for planted in PLANTED {
        table += &format!(" {} |", heading(planted));
    }
    table += &format!("\n| --- | --- |{}\n", " --- |".repeat(PLANTED.len()));
    for way in WAYS {
        let results = PLANTED.map(|planted| judged(way, record, planted));
        let slices: Vec<String> =
            results.iter().map(|(_, slices)| format!("{slices:.0}")).collect();
        let slices = if slices.iter().all(|s| *s == slices[0]) {
            slices[0].clone()
        } else {
            slices.join(", ")
        };
        table += &format!("| {} | {slices} |", way.name);
        for (wrong, _) in results {
            table += &format!(" {:.1}% |", 100.0 * wrong);
        }
        table.push('\n');
    }
    table
}

fn heading(planted: f64) -> String {
    let wrong = if planted > THRESHOLD { "missed" } else { "false" };
    format!("+{:.0}%: {wrong}", 100.0 * planted)
}

/// The share of runs in which the way is wrong about this difference, and the
/// median number of slices of each arm that it took.
///
/// A difference beyond worth is missed by whatever does not say "slower". Where
/// there is less, a claim is false that the other arm is faster, or slower by
/// more than there is.
fn judged(way: &Way, record: &Record, planted: f64) -> (f64, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut wrong = 0;
    let mut slices = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        let (difference, random) = (planted.ln_1p(), &mut random);
        let (claim, took) =
            (way.compare)(Given { record, difference, threshold: THRESHOLD, random });
        wrong += usize::from(is_wrong(claim, planted, way.shows_threshold));
        slices.push(took as f64);
    }
    (wrong as f64 / RUNS as f64, stats::median(&mut slices))
}

fn is_wrong(claim: Claim, planted: f64, shows_threshold: bool) -> bool {
    if planted > THRESHOLD {
        return claim != Claim::Slower;
    }
    match claim {
        Claim::Slower => shows_threshold || planted == 0.0,
        Claim::Faster => true,
        Claim::Nothing => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_judged_by_what_it_says() {
        for (claim, planted, shows_threshold, wrong) in [
            (Claim::Slower, 0.0, true, true),
            (Claim::Slower, 0.0, false, true),
            (Claim::Slower, 0.03, true, true),
            (Claim::Slower, 0.03, false, false),
            (Claim::Faster, 0.03, false, true),
            (Claim::Nothing, 0.03, true, false),
            (Claim::Nothing, 0.08, true, true),
            (Claim::Faster, 0.5, false, true),
            (Claim::Slower, 0.5, false, false),
        ] {
            assert_eq!(is_wrong(claim, planted, shows_threshold), wrong, "{claim:?} {planted}");
        }
    }

    #[test]
    fn a_quiet_record_is_judged_rightly_by_all() {
        let blocks = (0..60).map(|i| [0.0, 1e-6 * f64::from(i % 7)]).collect();
        let record = Record::from_logs(blocks);
        for way in WAYS {
            for planted in [0.08, 0.5] {
                let (wrong, _) = judged(way, &record, planted);
                assert!(wrong == 0.0, "{} at {planted}: {wrong}", way.name);
            }
        }
    }
}
