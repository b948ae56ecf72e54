//! `cargo xtask test`: everything that must hold before a change is merged.
//!
//! Every step runs, whatever became of the ones before, so that one run tells
//! all. What could not be tested here is said again at the end, for a test that
//! was skipped has not passed.

use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use xtask::pool::{self, Done, Job};
use xtask::{libtest_output, packages, process, site, timeout};

use crate::cargo_build::{self, Built, TestProgram};
use crate::{cargo_deny, limits, prose, tidy};

/// Programs of tests, by the end of their name, that tell situations apart by what else runs on
/// the machine, and see others where that is too much.
const ALONE: [&str; 3] = ["bench short", "causes", "selftest"];
/// What CI may skip: it takes longer to install than to run, or needs what a machine may lack.
const MAY_BE_SKIPPED: [&str; 8] = [
    "no cargo-deny",
    "no typos",
    "no harper-cli",
    "cc does not make a program with [\"-m32\"]",
    "because others kept",
    "because others left",
    "because the hypervisor took",
    "the cycle counter and the system clock drifted apart",
];
/// What is no member of the workspace, and built by a bench alone.
const ENGINES: &str = "bench/engines/Cargo.toml";
/// The others wait for servers, devices and budgets half of the time.
const AT_ONCE: usize = 3;
/// Programs whose tests wait for most of their time, and how many of those run at once. The others
/// run as many as there are processors.
const WAITING: [(&str, &str); 2] = [("iotoll suite", "3"), ("docs", "3")];
/// Programs whose tests compute, and give way to those that wait for their turn.
const COMPUTING: [&str; 1] = ["stats suite"];
/// Begun first, in this order, so that no long one is left over at the end.
const LONGEST: [&str; 7] = [
    "iotoll suite",
    "iotoll root",
    "build with MPI",
    "docs",
    "testkit suite",
    "stats suite",
    "iotoll faults",
];

pub(crate) fn run() -> Result<()> {
    let began = Instant::now();
    let count = Count::default();
    let mut steps = Steps::default();
    steps.perform("packages", || {
        count.skip("packages", packages::provide());
        Ok(())
    });
    steps.perform("formatting", || formatting(&count));
    steps.perform("tidiness", tidy::check);
    steps.perform("spelling", || {
        count.skip("spelling", prose::spelling::check()?);
        Ok(())
    });
    steps.perform("links", site::check);
    let mut built = None;
    steps.perform("build", || {
        built = Some(cargo_build::all()?);
        Ok(())
    });
    if let Some(Built { tests: programs, warnings }) = &built {
        count.skip("lints", cargo_build::unlinted());
        steps.perform("lints", || lints(warnings));
        steps.perform("tests alone", || at_once(1, tests(programs, &count, true)));
        let mpi = OnceLock::new();
        steps.perform("tests", || beside_each_other(programs, &count, &mpi));
        // Ranks are more than there are processors.
        steps.perform("tests with MPI", || {
            mpi.get().map_or(Ok(()), |programs| at_once(1, tests(programs, &count, false)))
        });
    }
    steps.perform("dependencies", || {
        count.skip("dependencies", cargo_deny::check()?);
        Ok(())
    });
    steps.summarise(&count);
    if std::env::var_os("CI").is_some() {
        steps.perform("flaky, skipped", || count.whole());
    }
    let failed = steps.0.iter().filter(|outcome| outcome.result.is_err()).count();
    let seconds = began.elapsed().as_secs();
    ensure!(failed == 0, "{failed} of {} steps failed, after {seconds} s", steps.0.len());
    let before =
        limits::test_seconds()?.map_or_else(String::new, |s| format!(" ({s} s when last kept)"));
    println!("all steps passed, after {seconds} s{before}");
    Ok(())
}

/// What became of the steps so far.
#[derive(Default)]
struct Steps(Vec<Done<()>>);

impl Steps {
    fn perform(&mut self, name: &str, step: impl FnOnce() -> Result<()>) {
        println!("\n=== {name}");
        let began = Instant::now();
        let result = step();
        let done = Done { name: name.to_owned(), took: began.elapsed(), result };
        match &done.result {
            Ok(()) => println!("=== {name}: passed in {}", seconds(done.took)),
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
        let skipped = count.skipped();
        for line in &skipped {
            println!("{}{line}", libtest_output::MARK);
        }
        for test in count.flaky() {
            println!("FLAKY: {test} failed beside other tests, and passed alone");
        }
        let (passed, failed) = (count.passed.load(Relaxed), count.failed.load(Relaxed));
        println!("\n{passed} passed, {failed} failed, {} skipped", skipped.len());
    }
}

/// Tests that passed and failed, of all programs of tests.
#[derive(Default)]
struct Count {
    passed: AtomicU64,
    failed: AtomicU64,
    /// Those that failed beside others and passed alone.
    flaky: Mutex<Vec<String>>,
    /// What was skipped, and of what, whatever became of the rest of it.
    skipped: Mutex<Vec<String>>,
}

impl Count {
    fn skip(&self, of: &str, lines: Vec<String>) {
        if let Ok(mut skipped) = self.skipped.lock() {
            skipped.extend(lines.into_iter().map(|line| format!("{of}: {line}")));
        }
    }

    fn skipped(&self) -> Vec<String> {
        self.skipped.lock().map(|skipped| skipped.clone()).unwrap_or_default()
    }

    /// An error where a test is flaky, or where something was skipped that always runs in CI.
    fn whole(&self) -> Result<()> {
        let is_listed = |line: &String| MAY_BE_SKIPPED.iter().any(|may| line.contains(may));
        let unlisted = self.skipped().into_iter().filter(|line| !is_listed(line));
        let unlisted = unlisted.map(|line| format!("skipped: {line}"));
        let flaky = self.flaky().into_iter().map(|test| format!("flaky: {test}"));
        let faults: Vec<String> = unlisted.chain(flaky).collect();
        ensure!(faults.is_empty(), "not in CI:\n{}", faults.join("\n"));
        Ok(())
    }

    fn flaky(&self) -> Vec<String> {
        self.flaky.lock().map(|flaky| flaky.clone()).unwrap_or_default()
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

fn formatting(count: &Count) -> Result<()> {
    let version = process::output(&mut process::cargo(&["fmt", "--version"]));
    if version.is_err() {
        let why = "no rustfmt; to have it: rustup component add rustfmt";
        count.skip("formatting", vec![why.to_owned()]);
        return Ok(());
    }
    process::succeed(&mut process::cargo(&["fmt", "--all", "--check"]))?;
    let apart = ["fmt", "--manifest-path", ENGINES, "--check"];
    process::succeed(&mut process::cargo(&apart))
}

/// The build has linted; what it found does not keep the tests from running.
fn lints(warnings: &[String]) -> Result<()> {
    ensure!(
        warnings.is_empty(),
        "{} warnings, which are errors here:\n{}",
        warnings.len(),
        warnings.concat()
    );
    Ok(())
}

/// The programs of tests, and what else waits: cargo for other programs of it.
fn beside_each_other(
    built: &[TestProgram],
    count: &Count,
    mpi: &OnceLock<Vec<TestProgram>>,
) -> Result<()> {
    let mut jobs = tests(built, count, false);
    jobs.push(Job { name: "build with MPI".to_owned(), run: Box::new(|| build_mpi(count, mpi)) });
    jobs.push(Job { name: "documentation".to_owned(), run: Box::new(documentation) });
    let rank = |job: &Job<'_, ()>| LONGEST.iter().position(|name| *name == job.name);
    jobs.sort_by_key(|job| rank(job).unwrap_or(LONGEST.len()));
    at_once(AT_ONCE, jobs)
}

/// The programs of tests, those that run alone or the others.
fn tests<'a>(built: &'a [TestProgram], count: &'a Count, alone: bool) -> Vec<Job<'a, ()>> {
    let is_alone = |test: &TestProgram| ALONE.iter().any(|name| test.name.ends_with(name));
    let programs = built.iter().filter(|test| is_alone(test) == alone);
    let job = |test: &'a TestProgram| Job {
        name: test.name.clone(),
        run: Box::new(|| watch(test, count)),
    };
    programs.map(job).collect()
}

/// What is shown in the documentation is code that compiles and runs.
fn documentation() -> Result<()> {
    let mut tests = process::giving_way(cargo_build::command("test").arg("--doc"));
    process::output_in_time(&mut tests)?;
    Ok(())
}

/// What is not there of what it takes to build with MPI.
fn lacks_of_mpi() -> Option<&'static str> {
    ["mpirun", "mpicc", "libclang"].into_iter().find(|name| !packages::is_installed(name))
}

/// The program for ranks of MPI and its tests, where they can be built.
fn build_mpi(count: &Count, into: &OnceLock<Vec<TestProgram>>) -> Result<()> {
    if let Some(lacking) = lacks_of_mpi() {
        count.skip("ranks of MPI", vec![format!("{lacking} is not installed")]);
        return Ok(());
    }
    let Built { tests, warnings } = cargo_build::with_mpi()?;
    let _ = into.set(tests);
    lints(&warnings)
}

fn at_once(many: usize, jobs: Vec<Job<'_, ()>>) -> Result<()> {
    let tell = |done: &Done<()>| match &done.result {
        Ok(()) => println!("{}: passed in {}", done.name, seconds(done.took)),
        Err(error) => println!("{}: FAILED in {}: {error:#}", done.name, seconds(done.took)),
    };
    let done = pool::run(jobs, many, tell).into_iter();
    let failed: Vec<String> =
        done.filter(|done| done.result.is_err()).map(|done| done.name).collect();
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// Runs a program of tests, of which all that it prints is shown where one fails, and
/// counts what they say was skipped.
fn watch(program: &TestProgram, count: &Count) -> Result<()> {
    let mut command = program.command();
    if let Some((_, threads)) = WAITING.iter().find(|(name, _)| *name == program.name) {
        command.env("RUST_TEST_THREADS", threads);
    }
    if COMPUTING.contains(&program.name.as_str()) {
        command = process::giving_way(&command);
    }
    let output =
        outcome(program, command).inspect_err(|_| _ = count.failed.fetch_add(1, Relaxed))?;
    let told = String::from_utf8_lossy(&output.stdout);
    count.skip(&program.name, libtest_output::skipped(&told));
    let (passed, failed) = libtest_output::counts(&told);
    count.passed.fetch_add(passed, Relaxed);
    if output.status.success() {
        return Ok(());
    }
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
    Ok(())
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
