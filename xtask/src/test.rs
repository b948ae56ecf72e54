//! `cargo xtask test`: everything that must hold before a change is merged.
//!
//! Every step runs, whatever became of the ones before, so that one run tells
//! all. What could not be tested here is said again at the end, for a test that
//! was skipped has not passed.

use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::{examples, generate, packages, process, tidy};

/// How a test says that it skipped itself.
const SKIPPED: &str = "SKIPPED";

/// What one step left undone, a line each.
type Skipped = Vec<String>;

struct Step {
    name: &'static str,
    run: fn() -> Result<Skipped>,
}

const STEPS: &[Step] = &[
    Step { name: "packages", run: || Ok(packages::provide()) },
    Step { name: "formatting", run: formatting },
    Step { name: "tidiness", run: || tidy::check().map(|()| Vec::new()) },
    Step { name: "lints", run: lints },
    Step { name: "tests", run: tests },
    Step { name: "generated files", run: || generate::check().map(|()| Vec::new()) },
    Step { name: "example plans", run: examples::run_all },
];

struct Outcome {
    name: &'static str,
    took: Duration,
    result: Result<Skipped>,
}

pub(crate) fn run() -> Result<()> {
    let began = Instant::now();
    let outcomes: Vec<Outcome> = STEPS.iter().map(perform).collect();
    summarise(&outcomes);
    let failed = outcomes.iter().filter(|outcome| outcome.result.is_err()).count();
    let seconds = began.elapsed().as_secs();
    if failed > 0 {
        bail!("{failed} of {} steps failed, after {seconds} s", outcomes.len());
    }
    println!("all steps passed, after {seconds} s");
    Ok(())
}

fn perform(step: &Step) -> Outcome {
    println!("\n=== {}", step.name);
    let began = Instant::now();
    let result = (step.run)();
    let took = began.elapsed();
    match &result {
        Ok(_) => println!("=== {}: passed in {:.1} s", step.name, took.as_secs_f64()),
        Err(error) => {
            println!("=== {}: FAILED in {:.1} s: {error:#}", step.name, took.as_secs_f64());
        }
    }
    Outcome { name: step.name, took, result }
}

fn summarise(outcomes: &[Outcome]) {
    println!("\n=== summary");
    for Outcome { name, took, result } in outcomes {
        let word = if result.is_ok() { "passed" } else { "FAILED" };
        println!("{name:<16} {word:<8} {:>7.1} s", took.as_secs_f64());
    }
    for Outcome { name, result, .. } in outcomes {
        for line in result.iter().flatten() {
            println!("{SKIPPED} in {name}: {line}");
        }
    }
}

fn formatting() -> Result<Skipped> {
    if !has_component("fmt") {
        return Ok(vec!["no rustfmt; to have it: rustup component add rustfmt".to_owned()]);
    }
    process::succeed(&mut process::cargo(&["fmt", "--all", "--check"]))?;
    Ok(Vec::new())
}

fn lints() -> Result<Skipped> {
    if !has_component("clippy") {
        return Ok(vec!["no clippy; to have it: rustup component add clippy".to_owned()]);
    }
    let arguments = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    process::succeed(&mut process::cargo(&arguments))?;
    Ok(Vec::new())
}

fn has_component(subcommand: &str) -> bool {
    process::output(&mut process::cargo(&[subcommand, "--version"])).is_ok()
}

fn tests() -> Result<Skipped> {
    let mut cargo = process::cargo(&["test", "--workspace", "--no-fail-fast"]);
    if std::io::stderr().is_terminal() {
        cargo.env("CARGO_TERM_COLOR", "always");
    }
    watch(&mut cargo)
}

/// Runs it, and gathers what its standard error, passed on, says was skipped.
fn watch(command: &mut Command) -> Result<Skipped> {
    let mut child = command.stderr(Stdio::piped()).spawn().context("running cargo test")?;
    let said = child.stderr.take().context("cargo's standard error")?;
    let mut skipped = Vec::new();
    for line in BufReader::new(said).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        if let Some(what) = line.strip_prefix(SKIPPED) {
            skipped.push(what.trim_start_matches([':', ' ']).to_owned());
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("cargo test ended with {status}");
    }
    Ok(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tests_skip_is_gathered() {
        let script = "echo SKIPPED mount: only root can >&2; echo fine >&2; echo SKIPPED no";
        let skipped = watch(Command::new("sh").args(["-c", script])).expect("sh runs");
        assert_eq!(skipped, ["mount: only root can"]);
    }

    #[test]
    fn a_failure_is_an_error() {
        assert!(watch(Command::new("sh").args(["-c", "exit 3"])).is_err());
    }
}
