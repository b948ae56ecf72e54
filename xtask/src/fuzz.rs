//! `cargo xtask fuzz`: everything that reads what others wrote is given inputs that
//! nobody would write. None may panic, hang, or take more memory than its bound.
//!
//! Each input follows from the target's name, a seed and its number, so that a finding is
//! had again with `--seed` and `--only`. The tests run the first few of each target.

mod change;
mod json;
mod memory;
mod outcome;
mod records;
mod target;
mod targets;
mod traces;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use model::units::count;

#[cfg(debug_assertions)]
pub(crate) use crate::fuzz::memory::Counting;
use crate::fuzz::outcome::{Finding, Tally};
use crate::fuzz::target::Target;
use crate::process;

/// The profile that this is built with, and so its folder.
const PROFILE: &str = "fuzz";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The targets [default: all]
    targets: Vec<String>,
    /// How many inputs all targets get together, each its share
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    inputs: u64,
    /// What the inputs are made from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run the input of this number alone, and save it
    #[arg(long, value_name = "NUMBER")]
    only: Option<u64>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if !is_built_for_this()? {
        return again_with_checks();
    }
    let targets = chosen(&args.targets)?;
    if let Some(number) = args.only {
        return targets.iter().try_for_each(|target| only(target, args.seed, number));
    }
    let shares: u64 = targets.iter().map(|target| target.share).sum();
    let began = Instant::now();
    let mut all = Tally::default();
    let mut findings = 0;
    for target in &targets {
        let inputs = u128::from(args.inputs) * u128::from(target.share) / u128::from(shares);
        let began = Instant::now();
        let tally = outcome::run(target, args.seed, (inputs as u64).max(1), |hang| {
            // Nothing ends a thread that hangs but the end of its process.
            println!("{}: {hang}", target.name);
            std::process::exit(1);
        });
        println!("{}", line(target.name, &tally, began.elapsed().as_secs_f64()));
        let places = by_place(&tally.findings);
        findings += places.len();
        for finding in places.values() {
            println!("  {finding}");
            println!(
                "    cargo xtask fuzz {} --seed {} --only {}",
                target.name, args.seed, finding.number
            );
        }
        all.add(tally);
    }
    println!("{}", line("all", &all, began.elapsed().as_secs_f64()));
    if findings > 0 {
        bail!("{findings} findings");
    }
    Ok(())
}

fn line(name: &str, tally: &Tally, seconds: f64) -> String {
    format!(
        "{name:<12} {:>10} inputs, {:>5.1}% got through, at most {:>9} bytes of memory and \
         {:>6.1} ms each, in {seconds:.0} s",
        count(tally.inputs),
        100.0 * tally.understood as f64 / tally.inputs.max(1) as f64,
        count(tally.memory_bytes as u64),
        tally.longest.as_secs_f64() * 1e3,
    )
}

/// One finding for each place in the code, the one of the shortest input.
fn by_place(findings: &[Finding]) -> BTreeMap<&str, &Finding> {
    let mut places: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in findings {
        let known = places.entry(&finding.place).or_insert(finding);
        if finding.input.len() < known.input.len() {
            *known = finding;
        }
    }
    places
}

fn only(target: &Target, seed: u64, number: u64) -> Result<()> {
    let input = target.prepare().input(seed, number);
    println!("saved as {}", save(target, number, &input)?.display());
    // Outside of what catches panics: the backtrace is what is wanted.
    println!("got through: {}", (target.run)(&input));
    Ok(())
}

fn save(target: &Target, number: u64, input: &[u8]) -> Result<PathBuf> {
    let folder = process::root().join("target/fuzz-findings");
    fs::create_dir_all(&folder).context("making a folder for findings")?;
    let file = folder.join(format!("{}-{number}", target.name));
    fs::write(&file, input).with_context(|| format!("saving {}", file.display()))?;
    Ok(file)
}

fn chosen(names: &[String]) -> Result<Vec<Target>> {
    let mut targets = targets::all();
    let known: Vec<&str> = targets.iter().map(|target| target.name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        bail!("no target `{unknown}`; there is {}", known.join(", "));
    }
    targets.retain(|target| names.is_empty() || names.iter().any(|name| name == target.name));
    Ok(targets)
}

fn is_built_for_this() -> Result<bool> {
    let program = std::env::current_exe().context("finding this program")?;
    Ok(program.parent().is_some_and(|folder| folder.ends_with(PROFILE)))
}

/// Without optimisation it takes hours, and without checks of overflow it finds half.
/// Replaces this process.
fn again_with_checks() -> Result<()> {
    eprintln!("xtask: building with optimisation and all checks");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let error = Command::new(cargo)
        .args(["run", "--quiet", "--profile", PROFILE, "--package", "xtask", "--manifest-path"])
        .arg(process::root().join("Cargo.toml"))
        .arg("--")
        .args(std::env::args_os().skip(1))
        .exec();
    Err(error).context("running cargo")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of what a whole run gives a target, in thousandths, and of none more than is quick.
    const INPUTS_MAX: u64 = 10_000;

    #[test]
    fn the_first_inputs_of_each_target_are_withstood() {
        for target in targets::all() {
            let inputs = (target.share * 7).min(INPUTS_MAX);
            let tally = outcome::run(&target, 1, inputs, |hang| {
                eprintln!("{}: {hang}", target.name);
                std::process::exit(1);
            });
            assert_eq!(tally.inputs, inputs);
            assert!(tally.understood > inputs / 50, "{}: {tally:?}", target.name);
            let findings: Vec<String> = tally.findings.iter().map(ToString::to_string).collect();
            assert!(findings.is_empty(), "{}: {findings:#?}", target.name);
        }
    }
}
