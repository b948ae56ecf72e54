//! Fuzzes each target in a process with libFuzzer, as many at once as there are processors.
//! `cargo xtask fuzz` builds this with all checks, and runs it.

// It speaks to the person who started it.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod engine;
mod supervisor;
mod tally;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use iotoll_fuzz::Target;
use iotoll_fuzz::allocations::Counting;

use crate::supervisor::Fuzzed;
use crate::tally::Tally;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The root of the workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Inputs of all targets, unless the user asks for less.
const INPUTS: u64 = 10_000_000;
/// No limit.
const SECONDS_MAX: u64 = u32::MAX as u64;

/// Give everything that reads what others wrote inputs that nobody would write
#[derive(Parser)]
#[command(bin_name = "cargo xtask fuzz")]
struct Args {
    /// The targets [default: all]
    targets: Vec<String>,
    /// Run N inputs in all, each target its share [default: 10000000, where --seconds is not given]
    #[arg(long, value_name = "N")]
    inputs: Option<u64>,
    /// End each target after N seconds
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Make the inputs from N and the seeds alone, the same each time [default: go on from what
    /// earlier runs found]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Give the input in FILE to the target, and do nothing else
    #[arg(long, value_name = "FILE")]
    repeat: Option<PathBuf>,
    /// Be libFuzzer, with the corpus in DIR
    #[arg(long, value_name = "DIR", hide = true)]
    engine: Option<PathBuf>,
}

/// How long a target is given inputs.
#[derive(Clone, Copy, Debug)]
struct Limits {
    inputs: u64,
    seconds: u64,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("cargo xtask fuzz: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<ExitCode> {
    let targets = chosen(&args.targets)?;
    if args.engine.is_none() && args.repeat.is_none() {
        return Ok(fuzz(args, &targets));
    }
    let [target] = &targets[..] else { bail!("name one target") };
    if let Some(file) = &args.repeat {
        let input = fs::read(file).with_context(|| file.display().to_string())?;
        // Nothing catches a panic here, so that it prints its backtrace.
        let outcome = if (target.run)(&input) { "understood" } else { "refused" };
        println!("{}: {outcome}", target.name);
        return Ok(ExitCode::SUCCESS);
    }
    let limits = limits(args, 1, 1);
    let folder = args.engine.clone().unwrap_or_default();
    engine::run(targets, limits, args.seed.unwrap_or_default(), &folder);
}

fn chosen(names: &[String]) -> Result<Vec<Target>> {
    let mut targets = iotoll_fuzz::all();
    let known: Vec<&str> = targets.iter().map(|target| target.name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no target `{unknown}`; there is {}", known.join(", "));
    }
    targets.retain(|target| names.is_empty() || names.iter().any(|name| name == target.name));
    Ok(targets)
}

/// Runs the targets in their order, as many at once as there are processors.
fn fuzz(args: &Args, targets: &[Target]) -> ExitCode {
    let processors = available_parallelism().map_or(1, usize::from);
    // Two processes that share a corpus do something else each time.
    let engines = if args.seed.is_some() { 1 } else { (processors / targets.len()).max(1) };
    let shares: u64 = targets.iter().map(|target| target.share).sum();
    let began = Instant::now();
    let next = Mutex::new(targets.iter());
    let done = Mutex::new(Vec::new());
    let work = || {
        loop {
            let Some(target) = next.lock().ok().and_then(|mut next| next.next()) else { return };
            let fuzzed =
                supervisor::run(target, limits(args, target.share, shares), args.seed, engines);
            print(target, &fuzzed);
            if let Ok(mut done) = done.lock() {
                done.push(fuzzed);
            }
        }
    };
    thread::scope(|scope| {
        (0..processors.min(targets.len())).for_each(|_| drop(scope.spawn(work)));
    });
    let done = done.into_inner().unwrap_or_default();
    let mut all = Tally::default();
    done.iter().flatten().for_each(|fuzzed| all.add(&fuzzed.tally));
    let findings: usize = done.iter().flatten().map(|fuzzed| fuzzed.findings.len()).sum();
    println!("{}", all.line("all", began.elapsed()));
    let failed = done.iter().filter(|fuzzed| fuzzed.is_err()).count();
    if findings + failed > 0 {
        println!("{findings} findings, and {failed} targets that could not be run");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The limits of a target with this share of all inputs.
fn limits(args: &Args, share: u64, shares: u64) -> Limits {
    let all = match (args.inputs, args.seconds) {
        (None, None) => INPUTS,
        (inputs, _) => inputs.unwrap_or(u64::MAX),
    };
    let inputs = u128::from(all) * u128::from(share) / u128::from(shares);
    Limits { inputs: (inputs as u64).max(1), seconds: args.seconds.unwrap_or(SECONDS_MAX) }
}

/// Prints the result of a target.
fn print(target: &Target, fuzzed: &Result<Fuzzed>) {
    let Fuzzed { tally, findings, took } = match fuzzed {
        Ok(fuzzed) => fuzzed,
        Err(error) => return println!("{}: {error:#}", target.name),
    };
    println!("{}", tally.line(target.name, *took));
    for finding in findings {
        println!("  {}: {}", finding.defect.place, finding.defect.message.replace('\n', "\\n"));
        println!(
            "    found after {:.1} s, {} inputs; repeat: cargo xtask fuzz {} --repeat {}",
            finding.after_s,
            finding.after_inputs,
            target.name,
            finding.input.strip_prefix(root()).unwrap_or(&finding.input).display()
        );
    }
}

fn root() -> PathBuf {
    Path::new(ROOT).canonicalize().unwrap_or_else(|_| ROOT.into())
}

/// The folder of a target's files.
fn folder(kind: &str, target: &Target) -> PathBuf {
    root().join("target").join(kind).join(target.name)
}

/// The time that is left.
fn left(until: Option<Instant>) -> Duration {
    until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()))
}
