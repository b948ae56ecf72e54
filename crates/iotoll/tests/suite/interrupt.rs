//! What an interrupted or killed run leaves: its result so far, and nothing
//! that `iotoll clean` would not remove.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Places, at_once, entries, iotoll, place, run, slice_folders, stdout};
use rustix::process::{Pid, Signal, kill_process};

/// A run that goes on for minutes, in the midst of its blocks: a place held
/// against itself is never found to differ.
fn running(places: &Places, json: &Path) -> Child {
    let twins = ["a", "b"].map(|label| place(label, places.ram.path()));
    let child = iotoll()
        .arg("compare")
        .args(twins)
        .args([
            "--study",
            "log",
            "--strategy",
            "held",
            "--threshold",
            "0.0001%",
            "--budget",
            "10min",
        ])
        .arg("--json")
        .arg(json)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let waited = Instant::now();
    let mut slices = HashSet::new();
    while slices.len() < 5 {
        assert!(waited.elapsed() < Duration::from_secs(60), "only {} slices ran", slices.len());
        slices.extend(slice_folders(places.ram.path()));
        sleep(Duration::from_millis(5));
    }
    child
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn ctrl_c_reports_what_was_measured_and_leaves_nothing() {
    at_once(3, [Signal::INT, Signal::TERM, Signal::HUP], end_by);
}

/// Ends a run by a signal, and checks its result and its places.
fn end_by(which: Signal) {
    let places = Places::new();
    let results = tempfile::tempdir().unwrap();
    let json = results.path().join("partial.json");
    let child = running(&places, &json);
    signal(&child, which);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stdout(&output).contains("interrupted after"), "{}", stdout(&output));
    places.assert_empty();
    let text = std::fs::read_to_string(json).unwrap();
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(result["run"]["interrupted"], true);
    assert!(result["slices"].as_array().unwrap().len() > 1);
}

#[test]
fn a_signal_that_comes_twice_at_once_is_one() {
    let places = Places::new();
    let results = tempfile::tempdir().unwrap();
    let json = results.path().join("twice.json");
    let child = running(&places, &json);
    // As `timeout` does.
    for _ in 0..2 {
        signal(&child, Signal::TERM);
        sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(json.exists(), "the second signal ended the run before its result was saved");
    places.assert_empty();
}

#[test]
fn clean_removes_what_a_killed_run_left_and_no_live_folder() {
    let places = Places::new();
    let results = tempfile::tempdir().unwrap();
    let mut child = running(&places, &results.path().join("r.json"));

    let live = run([&["clean".to_owned()], places.args().as_slice()].concat());
    assert!(live.status.success());
    assert!(stdout(&live).contains("in use"), "{}", stdout(&live));
    assert_eq!(entries(places.ram.path()).len(), 2, "a live run's folder was removed");

    signal(&child, Signal::KILL);
    child.wait().unwrap();
    assert_eq!(entries(places.ram.path()).len(), 2);
    let dead = run([&["clean".to_owned()], places.args().as_slice()].concat());
    assert!(dead.status.success());
    assert!(stdout(&dead).contains("removed"), "{}", stdout(&dead));
    places.assert_empty();
}

#[test]
fn the_next_run_removes_what_a_killed_one_left() {
    let places = Places::new();
    let results = tempfile::tempdir().unwrap();
    let mut child = running(&places, &results.path().join("r.json"));
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    let ram = place("ram", places.ram.path());
    let next = run(["compare", &ram, "--study", "log", "--strategy", "held", "--budget", "1s"]);
    assert!(next.status.success());
    assert!(common::stderr(&next).contains("left by a killed run"), "{}", common::stderr(&next));
    assert_eq!(entries(places.ram.path()).len(), 0);
}
