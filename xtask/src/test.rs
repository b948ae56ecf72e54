//! `cargo xtask test`: everything that must hold before a change is merged.
//!
//! Every step runs, whatever became of the ones before, so that one run tells
//! all. What could not be tested here is said again at the end, for a test that
//! was skipped has not passed.

use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use xtask::pool::{self, Done, Job, Skipped};
use xtask::{libtest_output, packages, process, site, timeout};

use crate::cargo_build::{self, TestProgram};
use crate::{cargo_deny, limits, tidy};

/// Programs of tests, by target, that tell situations apart by what else runs on the
/// machine, and skip some where that is too much.
const ALONE: [&str; 2] = ["causes", "selftest"];
/// What CI may skip: it takes longer to install than to run, or needs what a machine may lack.
const MAY_BE_SKIPPED: [&str; 3] =
    ["no cargo-deny", "cc does not make a program with [\"-m32\"]", "because others kept"];
/// What is no member of the workspace, and built by a bench alone.
const ENGINES: &str = "bench/engines/Cargo.toml";
/// The others wait for servers, devices and budgets half of the time.
const AT_ONCE: usize = 2;

pub(crate) fn run() -> Result<()> {
    let began = Instant::now();
    let mut steps = Steps::default();
    steps.perform("packages", || Ok(packages::provide()));
    steps.perform("formatting", formatting);
    steps.perform("tidiness", || tidy::check().map(|()| Vec::new()));
    steps.perform("links", || site::check().map(|()| Vec::new()));
    let count = Count::default();
    let mut built = None;
    steps.perform("build", || {
        built = Some(cargo_build::all()?);
        Ok(Vec::new())
    });
    if let Some(built) = &built {
        steps.perform("tests alone", || at_once(1, tests(built, &count, true)));
        steps.perform("tests, lints", || beside_each_other(built, &count));
    }
    // Last, for it builds the program anew.
    steps.perform("tests with MPI", || with_mpi(&count));
    steps.perform("dependencies", cargo_deny::check);
    steps.summarise(&count);
    if std::env::var_os("CI").is_some() {
        let outcome = steps.whole(&count);
        steps.perform("flaky, skipped", || outcome.map(|()| Vec::new()));
    }
    let failed = steps.0.iter().filter(|outcome| outcome.result.is_err()).count();
    let seconds = began.elapsed().as_secs();
    if failed > 0 {
        bail!("{failed} of {} steps failed, after {seconds} s", steps.0.len());
    }
    let before =
        limits::test_seconds()?.map_or_else(String::new, |s| format!(" ({s} s when last kept)"));
    println!("all steps passed, after {seconds} s{before}");
    Ok(())
}

/// What became of the steps so far.
#[derive(Default)]
struct Steps(Vec<Done>);

impl Steps {
    fn perform(&mut self, name: &str, step: impl FnOnce() -> Result<Skipped>) {
        println!("\n=== {name}");
        let began = Instant::now();
        let result = step();
        let done = Done { name: name.to_owned(), took: began.elapsed(), result };
        match &done.result {
            Ok(_) => println!("=== {name}: passed in {}", seconds(done.took)),
            Err(error) => println!("=== {name}: FAILED in {}: {error:#}", seconds(done.took)),
        }
        self.0.push(done);
    }

    fn summarise(&self, count: &Count) {
        println!("\n=== summary");
        for Done { name, took, result } in &self.0 {
            let word = if result.is_ok() { "passed" } else { "FAILED" };
            println!("{name:<22} {word:<8} {:>9}", seconds(*took));
        }
        for line in self.skipped() {
            println!("{}{line}", libtest_output::MARK);
        }
        for test in count.flaky() {
            println!("FLAKY: {test} failed beside other tests, and passed alone");
        }
        let (passed, failed) = (count.passed.load(Relaxed), count.failed.load(Relaxed));
        println!("\n{passed} passed, {failed} failed, {} skipped", self.skipped().count());
    }

    fn skipped(&self) -> impl Iterator<Item = &String> {
        self.0.iter().flat_map(|step| step.result.iter().flatten())
    }

    /// An error where a test is flaky, or where something was skipped that always runs in CI.
    fn whole(&self, count: &Count) -> Result<()> {
        let unlisted =
            self.skipped().filter(|line| !MAY_BE_SKIPPED.iter().any(|may| line.contains(may)));
        let unlisted = unlisted.map(|line| format!("skipped: {line}"));
        let flaky = count.flaky().into_iter().map(|test| format!("flaky: {test}"));
        let faults: Vec<String> = unlisted.chain(flaky).collect();
        if !faults.is_empty() {
            bail!("not in CI:\n{}", faults.join("\n"));
        }
        Ok(())
    }
}

/// Tests that passed and failed, of all programs of tests.
#[derive(Default)]
struct Count {
    passed: AtomicU64,
    failed: AtomicU64,
    /// Those that failed beside others and passed alone.
    flaky: Mutex<Vec<String>>,
}

impl Count {
    fn flaky(&self) -> Vec<String> {
        self.flaky.lock().map(|flaky| flaky.clone()).unwrap_or_default()
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

fn formatting() -> Result<Skipped> {
    if !has_component("fmt") {
        return Ok(vec!["no rustfmt; to have it: rustup component add rustfmt".to_owned()]);
    }
    process::succeed(&mut process::cargo(&["fmt", "--all", "--check"]))?;
    let apart = ["fmt", "--manifest-path", ENGINES, "--check"];
    process::succeed(&mut process::cargo(&apart))?;
    Ok(Vec::new())
}

fn lints() -> Result<Skipped> {
    if !has_component("clippy") {
        return Ok(vec!["no clippy; to have it: rustup component add clippy".to_owned()]);
    }
    let mut arguments = vec!["clippy", "--quiet", "--workspace", "--all-targets"];
    // What is there without MPI alone was built for the tests.
    if lacks_of_mpi().is_none() {
        arguments.extend(["--features", "iotoll/mpi"]);
    }
    let mut without = Vec::new();
    if packages::is_installed("c++") {
        arguments.extend(["--features", "iotoll-fuzz/engine"]);
    } else {
        without.push("lints of the fuzzer's engine: c++ is not installed".to_owned());
    }
    arguments.extend(["--", "-D", "warnings"]);
    process::succeed(&mut process::cargo(&arguments))?;
    Ok(without)
}

fn has_component(subcommand: &str) -> bool {
    process::output(&mut process::cargo(&[subcommand, "--version"])).is_ok()
}

/// The longest first: whole runs, then what is in the libraries.
fn beside_each_other(built: &[TestProgram], count: &Count) -> Result<Skipped> {
    let (mut jobs, rest): (Vec<Job<'_>>, Vec<Job<'_>>) =
        tests(built, count, false).into_iter().partition(|job| job.name.starts_with("iotoll "));
    jobs.push(Job { name: "documentation".to_owned(), run: Box::new(documentation) });
    jobs.push(Job { name: "lints".to_owned(), run: Box::new(lints) });
    jobs.extend(rest);
    let processors = available_parallelism().map_or(1, usize::from);
    at_once(AT_ONCE.min(processors), jobs)
}

/// The programs of tests, those that run alone or the others.
fn tests<'a>(built: &'a [TestProgram], count: &'a Count, alone: bool) -> Vec<Job<'a>> {
    let is_alone = |test: &TestProgram| ALONE.iter().any(|name| test.name.ends_with(name));
    let programs = built.iter().filter(|test| is_alone(test) == alone);
    let job = |test: &'a TestProgram| Job {
        name: test.name.clone(),
        run: Box::new(|| watch(test, count)),
    };
    programs.map(job).collect()
}

/// What is shown in the documentation is code that compiles and runs.
fn documentation() -> Result<Skipped> {
    process::output_in_time(&mut process::cargo(&["test", "--quiet", "--workspace", "--doc"]))?;
    Ok(Vec::new())
}

/// What is not there of what it takes to build with MPI.
fn lacks_of_mpi() -> Option<&'static str> {
    ["mpirun", "mpicc", "libclang"].into_iter().find(|name| !packages::is_installed(name))
}

/// Ranks of MPI, where it can be built with it.
fn with_mpi(count: &Count) -> Result<Skipped> {
    if let Some(lacking) = lacks_of_mpi() {
        return Ok(vec![format!("ranks of MPI: {lacking} is not installed")]);
    }
    let built = cargo_build::with_mpi()?;
    at_once(1, tests(&built, count, false))
}

fn at_once(many: usize, jobs: Vec<Job<'_>>) -> Result<Skipped> {
    let tell = |done: &Done| match &done.result {
        Ok(_) => println!("{}: passed in {}", done.name, seconds(done.took)),
        Err(error) => println!("{}: FAILED in {}: {error:#}", done.name, seconds(done.took)),
    };
    let mut skipped = Vec::new();
    let mut failed = Vec::new();
    for Done { name, result, .. } in pool::run(jobs, many, tell) {
        match result {
            Ok(lines) => skipped.extend(lines.into_iter().map(|line| format!("{name}: {line}"))),
            Err(_) => failed.push(name),
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(skipped)
}

/// Runs a program of tests, of which all that it prints is shown where one fails, and
/// gathers what they say was skipped.
fn watch(program: &TestProgram, count: &Count) -> Result<Skipped> {
    let output = outcome(program, program.command())
        .inspect_err(|_| _ = count.failed.fetch_add(1, Relaxed))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let (passed, failed) = libtest_output::counts(&told);
    count.passed.fetch_add(passed, Relaxed);
    if !output.status.success() {
        let names = libtest_output::failed(&told);
        if names.is_empty() || !pass_alone(program, &names)? {
            count.failed.fetch_add(failed, Relaxed);
            bail!("{}\n{told}{}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        println!("{}: failed beside others:\n{told}", program.name);
        count.passed.fetch_add(failed, Relaxed);
        if let Ok(mut flaky) = count.flaky.lock() {
            flaky.extend(names.iter().map(|name| format!("{}: {name}", program.name)));
        }
    }
    Ok(libtest_output::skipped(&told))
}

/// Whether what failed passes when nothing else runs beside it in the program: a test that
/// needs a machine's attention at the right moment is not to be taken for a defect, but told.
fn pass_alone(program: &TestProgram, names: &[&str]) -> Result<bool> {
    let output = outcome(program, program.command_of(names))?;
    let (passed, _) = libtest_output::counts(&String::from_utf8_lossy(&output.stdout));
    Ok(output.status.success() && passed == names.len() as u64)
}

fn outcome(program: &TestProgram, mut command: Command) -> Result<Output> {
    timeout::output(command.stdin(Stdio::null()))
        .with_context(|| format!("running {}", program.name))
}
