//! `iotoll check`: what it says of a directory, in its formats and exit codes, and that it leaves
//! nothing there.

use crate::common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::{Places, assert_fails, run, stderr, stdout, unnamed};
use serde_json::Value;

/// Long enough for five stretches.
const BUDGET: &str = "10s";

/// A check, with a longer budget where a machine that does much else has no round complete.
fn checked(args: &[&str]) -> Output {
    let within = |budget| run([&["check"], args, &["--budget", budget]].concat());
    let output = within(BUDGET);
    if stdout(&output).contains("no round was complete") { within("80s") } else { output }
}

#[test]
fn programs_that_are_not_known_or_named_twice_are_refused() {
    for (given, says) in [
        (&["--for", "etdc"][..], &["no recorded commits of `etdc` (did you mean `etcd`?)"][..]),
        (&["--for", "etcd,etcd"], &["--for names `etcd` twice"]),
        (&["--for", "etcd=fast"], &["give a number of commits a second"]),
        (&["--for", "etcd=-1"], &["give a number of commits a second"]),
        (&["/no/such/place"], &["/no/such/place"]),
    ] {
        assert_fails(&run([&["check"], given].concat()), 2, says);
    }
}

#[test]
fn a_dry_run_says_what_would_be_written_and_measures_nothing() {
    let places = Places::new();
    let place = places.disk.path().to_str().unwrap();
    let output = run(["check", place, "--dry-run"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("replace-cached"), "{}", stdout(&output));
    places.assert_empty();
}

#[test]
fn a_check_is_one_screen_is_saved_as_every_run_and_leaves_nothing() {
    let places = Places::new();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (place, json) = (places.disk.path().to_str().unwrap(), file("check.json"));
    let output = checked(&[place, "--for", "etcd=1", "--json", &json, "--require-fit"]);
    assert!(matches!(output.status.code(), Some(0 | 4)), "{}", stderr(&output));
    places.assert_empty();
    let screen = stdout(&output);
    assert!(screen.lines().count() <= 45, "{screen}");
    for says in ["fsync of an append", "random read 4 KiB", "needed: 1", "Why"] {
        assert!(screen.contains(says), "{says}: {screen}");
    }
    let document: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(document["schema"], "iotoll.check/1");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/check-1.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");

    // It is found again by its name, says the same, and is a result as any other.
    let id = document["run"].as_str().unwrap();
    assert_eq!(unnamed(&stdout(&run(["show", id])), id), unnamed(&screen, id));
    let result: Value = serde_json::from_str(&stdout(&run(["show", id, "--json", "-"]))).unwrap();
    assert_eq!(result["schema"], "iotoll.result/2");
    assert_eq!(result["check"]["places"], document["places"]);

    // A page and Markdown have the rows of the screen, and no others before them.
    let row = screen.lines().find(|line| line.starts_with("fsync of an append")).unwrap();
    for (flag, no) in [("--html", "on one axis"), ("--markdown", "compared with now")] {
        let written = stdout(&run(["show", id, flag, "-"]));
        assert!(written.contains(row) && !written.contains(no), "{written}");
    }

    // What was asked for is part of what differs.
    let [other, same] = [file("other.json"), file("same.json")];
    fs::write(&same, result.to_string()).unwrap();
    fs::write(&other, result.to_string().replace("--for etcd=1", "--for etcd=2")).unwrap();
    let diff = stdout(&run(["diff", &same, &other]));
    assert!(diff.contains("--for") && diff.contains("etcd=2"), "{diff}");

    // It is measured again as a check of the same.
    let dry_run = |args: &[&str]| {
        stdout(&run([args, &["--budget", BUDGET, "--seed", "1", "--dry-run"]].concat()))
    };
    assert_eq!(dry_run(&["rerun", id]), dry_run(&["check", place, "--for", "etcd=1"]));
    let again = run(["rerun", id, "--budget", "2s", "--no-save", "--json", "-"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let again: Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert_eq!(again["schema"], "iotoll.check/1");
    places.assert_empty();
}

#[test]
fn a_sync_in_memory_is_said_to_mean_nothing_and_a_rate_beyond_reach_does_not_fit() {
    let places = Places::new();
    let place = places.ram.path().to_str().unwrap();
    let output = checked(&[place, "--for", "etcd=1000000000", "--no-save", "--require-fit"]);
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let screen = stdout(&output);
    assert!(screen.contains("A sync does nothing there"), "{screen}");
    assert!(screen.contains("etcd  no"), "{screen}");
    places.assert_empty();
}
