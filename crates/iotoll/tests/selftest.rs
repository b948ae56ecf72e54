//! `iotoll selftest`, the built binary from end to end. Nothing here depends on
//! how fast or how quiet the machine is.

#![allow(clippy::unwrap_used)]

#[path = "suite/common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use model::document::json_schema_of;
use model::selftest::{PlantedKind, SelftestResult};
use rustix::process::{Pid, Signal, kill_process};

fn iotoll(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("iotoll"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    sys::start::default_signals(&mut command);
    command
}

fn place(dir: &Path) -> String {
    format!("here={}", dir.display())
}

fn leftovers(dir: &Path) -> usize {
    fs::read_dir(dir).unwrap().count()
}

/// Parses the JSON on standard output, after holding it against its schema.
fn result(output: &Output) -> SelftestResult {
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let schema = jsonschema::validator_for(&json_schema_of::<SelftestResult>()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&json).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(json["schema"], "iotoll.selftest/3");
    serde_json::from_value(json).unwrap()
}

/// Starts a test that would take a minute, and waits until it is at work.
fn at_work(dir: &Path) -> Child {
    let child = iotoll(&["selftest", &place(dir), "--json", "-"]).spawn().unwrap();
    let patience = Instant::now();
    while common::slice_folders(dir).is_empty() {
        assert!(patience.elapsed() < Duration::from_secs(30), "it never began");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn the_result_matches_its_schema_and_its_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["selftest", &place(dir.path()), "--budget", "5s", "--seed", "3", "--json", "-"];
    let output = iotoll(&args).output().unwrap();
    let found = result(&output);
    assert_eq!(output.status.code(), Some(i32::from(!found.objections.is_empty())), "{found:?}");
    assert_eq!((found.run.seed, found.run.interrupted), (3, false));
    assert_eq!(found.places.len(), 1);
    // A disk that others keep busy may not have had time for a single block.
    assert!(found.places[0].typical_ns.is_some() || found.places[0].failure.is_some());
    if let Some(compared) = &found.places[0].against_itself {
        let wrong = compared.false_verdicts;
        assert_eq!(compared.same + compared.unclear + wrong.count, wrong.of);
        assert!(compared.missed_by_interval.count >= wrong.count);
    }
    for planted in &found.places[0].planted {
        assert!(planted.found.is_some() || planted.untested.is_some(), "{planted:?}");
        let Some(compared) = &planted.found else { continue };
        let all = compared.right + compared.unclear + compared.wrong;
        assert_eq!(compared.missed.of + compared.unbounded, all);
        assert_eq!(compared.misses.len() as u64, compared.missed.count);
    }
    assert_eq!(leftovers(dir.path()), 0);
}

#[test]
fn cold_reading_is_not_tested_in_memory_and_the_report_says_why() {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let args = ["selftest", &place(dir.path()), "--budget", "3s", "--json", "-"];
    let found = result(&iotoll(&args).output().unwrap());
    let planted = &found.places[0].planted;
    let kinds: Vec<PlantedKind> = planted.iter().map(|planted| planted.kind).collect();
    assert_eq!(
        kinds,
        [PlantedKind::Writing, PlantedKind::Syncing, PlantedKind::ColdReading, PlantedKind::Stalls]
    );
    let cold = &planted[2];
    assert!(cold.found.is_none() && cold.untested.as_ref().unwrap().contains("in memory"));
    assert!(found.objections.iter().all(|objection| !objection.contains("cold reading")));
}

#[test]
fn the_report_fits_80_columns() {
    let dir = tempfile::tempdir().unwrap();
    let output = iotoll(&["selftest", &place(dir.path()), "--budget", "2s"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Timing"), "{text}");
    assert!(text.contains("Verdicts from this machine, as it is now,"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    for line in text.lines().filter(|line| !line.contains(dir.path().to_str().unwrap())) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn interrupted_it_reports_what_it_has_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let child = at_work(dir.path());
    send(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let found = result(&output);
    assert!(found.run.interrupted);
    assert!(found.places[0].against_itself.is_none());
    assert_eq!(leftovers(dir.path()), 0);
}

#[test]
fn what_a_killed_one_leaves_clean_removes() {
    let dir = tempfile::tempdir().unwrap();
    let child = at_work(dir.path());
    send(&child, Signal::KILL);
    child.wait_with_output().unwrap();
    assert!(leftovers(dir.path()) > 0);
    assert!(iotoll(&["clean", &place(dir.path())]).status().unwrap().success());
    assert_eq!(leftovers(dir.path()), 0);
}

#[test]
fn wrong_input_is_reported_before_anything_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let twice = [place(dir.path()), place(dir.path())];
    let cases: [&[&str]; 5] = [
        &["selftest", "here=/no/such/directory"],
        &["selftest", &place(&file)],
        &["selftest", "a b=/tmp"],
        &["selftest", &twice[0], &twice[1]],
        &["selftest", &twice[0], "--budget", "0"],
    ];
    for args in cases {
        let output = iotoll(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args:?}");
    }
}
