//! The study `log` with writers in processes of their own, and interpreters.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Places, iotoll, place, stderr, stdout};
use serde_json::Value;

/// What is asked of the runs here is there after a few blocks; a machine that is busy needs
/// longer for these.
const QUICK: [&str; 2] = ["--blocks=3", "--budget=60s"];
/// Enough rounds for writers to get into each other's way in one of them; 15 were too few once.
const CAUGHT: [&str; 2] = ["--blocks=30", "--budget=60s"];

/// Runs the study on a place, and gives the result beside what was said.
fn compare(places: &[String], given: &[&str]) -> (Output, Value) {
    compare_for(QUICK, places, given)
}

fn compare_for(long: [&str; 2], places: &[String], given: &[&str]) -> (Output, Value) {
    let mut command = iotoll();
    command.args(["compare", "--study", "log", "--json", "-"]).args(long).args(places);
    parsed(command.args(given))
}

fn parsed(command: &mut Command) -> (Output, Value) {
    let output = command.output().unwrap();
    let result = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}{}", stdout(&output), stderr(&output)));
    (output, result)
}

fn arms(result: &Value) -> impl Iterator<Item = (&str, &Value)> {
    result["arms"].as_array().unwrap().iter().map(|arm| (arm["strategy"].as_str().unwrap(), arm))
}

fn broken(arm: &Value) -> u64 {
    ["lost", "torn", "interleaved", "overwritten", "foreign", "duplicated", "reordered"]
        .iter()
        .map(|kind| arm["integrity"][kind].as_u64().unwrap())
        .sum()
}

#[test]
fn who_seeks_the_end_is_caught_with_an_example_and_makes_comparisons_invalid() {
    let places = Places::new();
    let given = ["--set=log.writers=4", "--set=log.record=8193", "--strategy=held,flock,seek-end"];
    let (output, result) = compare_for(CAUGHT, &places.args(), &given);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    for (strategy, arm) in arms(&result) {
        assert!(arm["integrity"]["records"].as_u64().unwrap() > 0);
        assert_eq!(broken(arm) > 0, strategy == "seek-end", "{arm}");
        assert_eq!(arm["integrity"]["example"].is_string(), strategy == "seek-end");
        let bound = arm["metrics"]["broken_share_at_most"].as_f64();
        assert_eq!(bound.is_some(), strategy != "seek-end");
    }
    for comparison in result["comparisons"].as_array().unwrap() {
        let of_broken = comparison["other"].as_str().unwrap().contains("seek-end");
        assert_eq!(comparison["verdict"] == "invalid", of_broken, "{comparison}");
    }
    places.assert_empty();
}

#[test]
fn a_split_buffer_is_caught_and_the_report_shows_a_line() {
    let places = Places::new();
    let output = iotoll()
        .args(["compare", "--study=log", "--strategy=buffered", "--full"])
        // On a busy machine the writers of a block often run one after the other.
        .args(["--blocks=30", "--budget=60s"])
        .args(["--set=log.writers=4", "--set=log.record=20 KiB", &places.args()[1]])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let report = stdout(&output);
    for part in ["buffered@ram corrupted", "interleaved", "For example:", "Durability"] {
        assert!(report.contains(part), "{part} is not in:\n{report}");
    }
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
}

#[test]
fn processes_lose_nothing_by_any_sound_strategy() {
    let places = Places::new();
    let (output, result) = compare(
        &places.args(),
        &[
            "--set=log.writers=3",
            "--set=log.record=uniform 50..9000",
            "--strategy=held,reopen,flock,flock-nonblocking,ofd-lock,batched,dsync,queued,\
             per-writer,uring",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for (strategy, arm) in arms(&result) {
        if strategy == "uring" && arm["failure"].is_string() {
            assert!(arm["failure"].as_str().unwrap().contains("io_uring"), "{arm}");
            continue;
        }
        assert_eq!(arm["failure"], Value::Null, "{strategy}");
        // Which of both it is, the kernel tells by looking now and then.
        let cpu_ns = ["user", "system"].map(|part| arm["cpu_ns_per_op"][part].as_f64().unwrap());
        assert!(cpu_ns.iter().sum::<f64>() > 0.0, "{strategy}");
        assert_eq!(broken(arm), 0, "{arm}");
        assert_eq!(arm["integrity"]["records"], arm["operations"], "{strategy}");
        assert!(arm["metrics"]["fairness_jain"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn interpreters_write_the_same_records() {
    let strategies = [
        ("php", "php-held,php-reopen,php-file-put-contents,php-flock,php-flock-nonblocking"),
        ("php", "php-error-log"),
        ("python3", "python-file-handler,python-watched-file-handler"),
        ("node", "node-append-file-sync,node-write-stream"),
    ];
    let places = Places::new();
    let list = strategies.map(|(_, list)| list).join(",");
    let (output, result) =
        compare(&places.args()[1..], &["--set=log.writers=2", &format!("--strategy={list}")]);
    for (strategy, arm) in arms(&result) {
        let program =
            strategies.iter().find(|(_, list)| list.split(',').any(|s| s == strategy)).unwrap().0;
        if is_installed(program) {
            assert_eq!(arm["failure"], Value::Null, "{strategy}: {}", stderr(&output));
            assert_eq!(broken(arm), 0, "{arm}");
            assert!(arm["integrity"]["records"].as_u64().unwrap() > 0, "{strategy}");
        } else {
            let failure = arm["failure"].as_str().unwrap();
            assert!(failure.contains("is not installed; install it"), "{failure}");
        }
    }
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
}

#[test]
fn a_missing_interpreter_is_told_and_the_others_go_on() {
    let places = Places::new();
    let mut command = iotoll();
    command.args(["compare", "--study=log", "--json=-", &places.args()[1]]).args(QUICK);
    command.args(["--strategy=held,php-held"]).env("PATH", places.disk.path());
    let (output, result) = parsed(&mut command);
    assert_eq!(output.status.code(), Some(0));
    let failures: Vec<_> = arms(&result).map(|(_, arm)| arm["failure"].as_str()).collect();
    assert_eq!(failures[0], None);
    let failure = failures[1].unwrap();
    assert!(
        failure.contains("php is not installed") && failure.contains("apt install"),
        "{failure}"
    );
    assert!(stderr(&output).contains("php is not installed"));
}

#[test]
fn killed_writers_lose_what_their_strategy_held_back_and_no_more() {
    let places = Places::new();
    let (_, result) = compare(
        &places.args()[1..],
        &["--set=log.kill=4", "--set=log.writers=2", "--strategy=held,buffered"],
    );
    for (strategy, arm) in arms(&result) {
        assert_eq!(arm["failure"], Value::Null);
        let figure = |name: &str| arm["metrics"][name].as_f64().unwrap();
        assert!(figure("kills") >= 4.0 && figure("killed_acknowledged") > 0.0, "{arm}");
        assert_eq!(figure("killed_lost") > 0.0, strategy == "buffered", "{arm}");
    }
}

#[test]
fn the_report_tells_a_process_crash_from_a_power_failure() {
    let places = Places::new();
    let output = iotoll()
        .args(["compare", "--study=log", "--strategy=held", "--set=log.kill=1", "--full"])
        .args(QUICK)
        .arg(&places.args()[1])
        .output()
        .unwrap();
    let report = stdout(&output).replace("\n   ", "");
    assert!(report.contains("a process crash does, not a power failure"), "{report}");
}

#[test]
fn limits_of_the_process_end_an_arm_with_what_to_do() {
    let places = Places::new();
    let ram = &places.args()[1];
    for (limit, strategy, writers, says) in [
        ("-f 8", "held", "1", "ulimit -f"),
        ("-f 8", "held", "2", "ulimit -f"),
        ("-f 8", "uring", "1", "ulimit -f"),
        ("-f 8", "python-file-handler", "1", "File too large"),
        ("-n 20", "held", "16", "Too many open files"),
    ] {
        if strategy.starts_with("python") && !is_installed("python3") {
            continue;
        }
        let shell = format!(
            "ulimit {limit}; exec {} compare --study log --strategy {strategy} --budget 60s --blocks 3 \
             --set log.writers={writers} --set log.record=8193 {ram}",
            env!("CARGO_BIN_EXE_iotoll")
        );
        let output = Command::new("sh").args(["-c", &shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{limit} {strategy}: {}", stdout(&output));
        let text = stderr(&output);
        assert!(text.contains(says) || text.contains("io_uring"), "{limit} {strategy}: {text}");
    }
    places.assert_empty();
}

#[test]
fn no_writer_outlives_a_run_that_is_killed() {
    let places = Places::new();
    // A name of its own distinguishes this run's writers from those of other tests.
    let binary = places.disk.path().join("iotoll-under-test");
    common::copy_program(&binary);
    let mut run = Command::new(&binary)
        .args(["compare", "--study=log", "--strategy=held", "--set=log.writers=3", "--budget=60s"])
        .arg(place("ram", places.ram.path()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let soon = |wanted: &dyn Fn(usize) -> bool| {
        let began = Instant::now();
        while !wanted(running(&binary)) && began.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(20));
        }
        running(&binary)
    };
    assert_eq!(
        soon(&|processes| processes == 5),
        5,
        "a run, what runs its slices, and three writers"
    );
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(soon(&|processes| processes == 0), 0);
}

fn running(binary: &Path) -> usize {
    let processes = fs::read_dir("/proc").unwrap();
    processes
        .filter_map(|entry| fs::read_link(entry.ok()?.path().join("exe")).ok())
        .filter(|exe| exe == binary)
        .count()
}

#[test]
fn the_example_plans_name_what_there_is() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (name, arms) in [("log-locking", 20), ("ram-drive-logging", 4)] {
        let plan = examples.join(format!("{name}.toml"));
        let output = iotoll().args(["compare", "--dry-run", "--plan"]).arg(plan).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains(&format!("({arms} combinations)")), "{}", stdout(&output));
    }
}
