//! `cargo xtask bench repeat`: whether what one run says holds of the next.
//!
//! Every pair of runs is asked, in both directions, whether the interval of the one
//! holds the estimate of the other: that of the run alone, and that for another run, learned
//! from all runs but these two. Runs that were saved before may be asked instead; their rounds
//! are then judged again.

mod agreement;
mod for_another;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use analysis::analyse;
use anyhow::{Context as _, Result, ensure};
use model::analysis::Comparison;
use model::run::Run;
use units::percent;

use agreement::{Agreement, Found, Series, Which};
use xtask::process;

/// At least this share of the intervals must hold the other run's estimate.
const HELD_MIN: f64 = 0.95;
/// At most so wide may the intervals be, as the logarithm of high over low; the median.
const WIDTH_MAX: f64 = 0.17;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Results that `compare --json` saved, instead of running
    #[arg(value_name = "FILE", conflicts_with_all = ["runs", "budget", "keep", "compare"])]
    pub(crate) files: Vec<PathBuf>,
    /// How often to run
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: usize,
    /// The budget of each run
    #[arg(long, value_name = "TIME", default_value = "60s")]
    budget: String,
    /// Keep the results in this directory
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// What else `compare` is given
    #[arg(last = true, value_name = "ARGS")]
    compare: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let runs = if args.files.is_empty() {
        measure(args)?
    } else {
        args.files.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?
    };
    ensure!(runs.len() > 1, "a single run has none to agree with");
    let alone: Vec<Vec<Comparison>> = runs.iter().map(alone).collect();
    let all = Series::of_runs(&alone, &for_another::of_runs(&runs));
    println!("{} runs; ratios in the order of the runs", runs.len());
    all.iter().for_each(print);
    let this_run = Agreement::of(&all, Which::ThisRun);
    println!("\nall comparisons, by the intervals of a run alone");
    report(&this_run);
    println!("\nall comparisons, by the intervals for another run");
    let is_met = report(&Agreement::of(&all, Which::AnotherRun));
    ensure!(is_met, "a target was missed");
    Ok(())
}

/// Runs `compare` so many times, one after another.
fn measure(args: &Args) -> Result<Vec<Run>> {
    let iotoll = process::build_release_iotoll()?;
    let temporary = tempfile::tempdir()?;
    let folder = args.keep.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let runs = (1..=args.runs).map(|number| {
        eprintln!("run {number} of {}", args.runs);
        let file = folder.join(format!("run-{number}.json"));
        let mut compare = Command::new(&iotoll);
        compare.arg("compare").args(["--no-save", "--budget", &args.budget, "--json"]).arg(&file);
        process::succeed(compare.args(&args.compare).stdout(Stdio::null()))?;
        read(&file)
    });
    runs.collect()
}

/// A result that a file has.
pub(crate) fn read(file: &Path) -> Result<Run> {
    let name = || file.display().to_string();
    let text = fs::read_to_string(file).with_context(name)?;
    Run::read(&text).with_context(name)
}

/// What a run says by itself, whatever it learned of others.
fn alone(run: &Run) -> Vec<Comparison> {
    analyse(&Run { between_runs: Vec::new(), ..run.clone() }).comparisons
}

/// One comparison: what each run found, and where two of them do not agree.
fn print(series: &Series) {
    println!("\n{}", series.name);
    for (which, name) in [(Which::ThisRun, "a run alone"), (Which::AnotherRun, "another run")] {
        let Agreement { pairs, held, width, .. } =
            Agreement::of(std::slice::from_ref(series), which);
        println!("  {name}: {held} of {pairs} held, width {width:.3}");
    }
    let ratio = |found: &Option<Found>| found.map_or("-".to_owned(), |f| format!("{:.3}", f.ratio));
    let ratios: Vec<String> = series.found.iter().map(ratio).collect();
    println!("  ratios    {}", ratios.join(" "));
    println!("  verdicts  {}", series.verdicts());
    for (one, other, own) in series.not_held(Which::AnotherRun) {
        let Some(others) = series.found[other] else { continue };
        println!(
            "  run {}, {:.3} to {:.3}, leaves out run {}'s {:.3}",
            one + 1,
            own.low,
            own.high,
            other + 1,
            others.ratio
        );
    }
    if series.contradicts_itself() {
        println!("  faster in one run and slower in another");
    }
}

/// Prints what all comparisons come to; whether the targets are met.
fn report(all: &Agreement) -> bool {
    let share = all.share_held();
    let (holds, is_narrow) = (share >= HELD_MIN, all.width <= WIDTH_MAX);
    let word = |is_met| if is_met { "met" } else { "MISSED" };
    println!(
        "  one run's interval holds another's estimate: {} ({} of {} ordered pairs); at least {}: {}",
        percent(share),
        all.held,
        all.pairs,
        percent(HELD_MIN),
        word(holds)
    );
    println!(
        "  median width of the intervals, ln(high / low): {:.3}; at most {WIDTH_MAX}: {}",
        all.width,
        word(is_narrow)
    );
    println!("  comparisons faster in one run and slower in another: {}", all.contradictions);
    holds && is_narrow && all.contradictions == 0
}
