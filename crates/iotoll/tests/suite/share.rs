//! A result to post: without paths and names, and as good as the original.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;

use common::{assert_fails, iotoll, place, run, stderr, stdout};
use serde_json::Value;

/// What each arm took, and what was found of each pair.
fn findings(result: &Value) -> Vec<&Value> {
    let arms = result["arms"].as_array().unwrap().iter().map(|arm| &arm["toll_ns"]);
    let verdicts = result["comparisons"].as_array().unwrap().iter().map(|c| &c["verdict"]);
    arms.chain(verdicts).collect()
}

#[test]
fn a_shared_result_names_nobody_and_says_the_same() {
    let parent = tempfile::Builder::new().prefix("alices-secret").tempdir().unwrap();
    let (own, json) = (parent.path().join("site"), parent.path().join("run.json"));
    fs::create_dir(&own).unwrap();
    fs::write(own.join("page.html"), "Hello").unwrap();
    let output = iotoll()
        .args(["compare", &place("alice", parent.path()), &place("ram", parent.path())])
        .args(["--study", "page", "--set", &format!("page.set={}", own.display())])
        .args(["--budget", "1s", "--no-save", "--json"])
        .arg(&json)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let name = |file: &str| parent.path().join(file).to_string_lossy().into_owned();
    for file in ["posted.json", "posted.html"] {
        let output = run(["share", &name("run.json"), "--output", &name(file)]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let posted = fs::read_to_string(name(file)).unwrap();
        let temporary = std::env::temp_dir().to_string_lossy().into_owned();
        for secret in ["alice", "secret", &temporary, "page.html"] {
            assert!(!posted.contains(secret), "{file} has {secret}");
        }
        let shown = run(["show", &name(file)]);
        assert!(stdout(&shown).contains("place-1"), "{}", stdout(&shown));
    }

    let read = |file: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(name(file)).unwrap()).unwrap()
    };
    assert_eq!(findings(&read("posted.json")), findings(&read("run.json")));
}

#[test]
fn what_cannot_be_shared_is_told() {
    assert_fails(&run(["share", "/nonexistent.json"]), 2, &["cannot share /nonexistent.json"]);
}
