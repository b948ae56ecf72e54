//! `cargo xtask test`: everything that must hold before a change is merged.
//!
//! Every step runs, whatever became of the ones before, so that one run tells
//! all. What could not be tested here is said again at the end, for a test that
//! was skipped has not passed.

use std::io::{BufRead as _, BufReader, IsTerminal as _};
use std::process::Command;
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

/// Shows what tests print as well, for a test that skips itself passes.
fn tests() -> Result<Skipped> {
    let arguments = ["test", "--workspace", "--no-fail-fast", "--", "--show-output"];
    let mut cargo = process::cargo(&arguments);
    if std::io::stderr().is_terminal() {
        cargo.env("CARGO_TERM_COLOR", "always");
    }
    watch(cargo)
}

/// Runs it, and gathers what its output, passed on, says was skipped.
fn watch(mut command: Command) -> Result<Skipped> {
    let (output, input) = std::io::pipe()?;
    command.stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn().context("running cargo test")?;
    // Holds the pipe's other end, which would never close.
    drop(command);
    let mut skipped = Vec::new();
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
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

    fn shell(script: &str) -> Result<Skipped> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        watch(command)
    }

    #[test]
    fn what_tests_skip_is_gathered_from_both_streams() {
        let skipped =
            shell("printf 'SKIPPED mount: no right\\n' >&2; echo fine; echo 'SKIPPED: b'");
        assert_eq!(skipped.expect("sh runs"), ["mount: no right", "b"]);
    }

    #[test]
    fn a_failure_is_an_error() {
        assert!(shell("exit 3").is_err());
    }
}
