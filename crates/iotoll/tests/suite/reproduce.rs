//! `iotoll reproduce`: articles are listed, repeated with what is installed, and kept with
//! what they say.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;

use common::{Places, assert_fails, iotoll, run, stderr, stdout, unnamed};
use serde_json::Value;

const ARTICLES: [&str; 5] = [
    "ram-drive-logging",
    "shm-cache",
    "journal-compression",
    "log-locking",
    "plain-files-and-sqlite",
];

#[test]
fn alone_it_lists_the_articles() {
    let output = run(["reproduce"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for article in ARTICLES {
        assert!(text.contains(article), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Repeats an article where no interpreter is found; what was told of that.
fn saved(places: &Places, file: &str) -> String {
    let output = iotoll()
        .args(["reproduce", "log-locking", "--quick", "--rounds", "2", "--json", file])
        .args(places.args())
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("`apt install php-cli` installs it"), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn what_is_missing_is_named_and_the_rest_is_measured_shown_shared_and_repeated() {
    let places = Places::new();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let printed = saved(&places, &file("run.json"));
    places.assert_empty();
    check_result(&fs::read(file("run.json")).unwrap());
    let shown = stdout(&run(["show", &file("run.json")]));
    assert_eq!(unnamed(&shown, &file("run.json")), unnamed(&printed, &file("run.json")));

    let shared = run(["share", &file("run.json"), "--output", &file("shared.json")]);
    assert!(shared.status.success(), "{}", stderr(&shared));
    let text = fs::read_to_string(file("shared.json")).unwrap();
    assert!(!text.contains(&places.disk.path().display().to_string()), "a path is in it");
    assert_eq!(measured(&stdout(&run(["show", &file("shared.json")]))), measured(&printed));

    let beside = run(["show", &file("shared.json"), "--beside", &file("run.json")]);
    assert!(beside.status.success(), "{}", stderr(&beside));
    let text = stdout(&beside);
    assert!(text.contains("published") && text.contains("shared: "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let both = [file("run.json"), file("shared.json")];
    let page = run(["report", &both[0], &both[1], "--output", &file("articles.md")]);
    assert!(page.status.success(), "{}", stderr(&page));
    let page = fs::read_to_string(file("articles.md")).unwrap();
    assert!(page.contains("## log-locking") && page.contains("run 2: "), "{page}");

    let again = run(["rerun", &file("run.json"), "--json", "-"]);
    assert!(again.status.success(), "{}", stderr(&again));
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["reproduction"]["article"], "log-locking");
    assert_eq!(again["plan"]["rounds"], 2);
}

/// A report without its head and its noise, which name what is not shared.
fn measured(text: &str) -> &str {
    let (_, text) = text.split_once("\n\n").unwrap();
    text.split_once("\nNoise").map_or(text, |(before, _)| before)
}

fn check_result(json: &[u8]) {
    let result: Value = serde_json::from_slice(json).unwrap();
    let reproduction = &result["reproduction"];
    assert_eq!(reproduction["article"], "log-locking");
    assert_eq!(reproduction["missing"][0]["install"], "apt install php-cli");
    let figures = reproduction["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 6);
    assert!(figures.iter().all(|figure| figure["original"].is_null()));
    assert!((figures[1]["published_ratio"].as_f64().unwrap() - 450.9).abs() < 0.1);
    let conclusions = reproduction["conclusions"].as_array().unwrap();
    assert_eq!(conclusions.len(), 7);
    assert!(conclusions.iter().all(|conclusion| conclusion["decision"].is_string()));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    assert_fails(&run(["reproduce", "log-loking"]), 2, &["did you mean `log-locking`?"]);
    let all = run(["reproduce", "all", "--json", "all.json"]);
    assert_fails(&all, 2, &["`all` makes 5 results"]);
    let one = run(["reproduce", "log-locking", "/dev/shm", "--dry-run"]);
    assert_fails(&one, 2, &["reproduced on two places, and 1 were named"]);
}

#[test]
fn a_dry_run_measures_nothing() {
    let places = Places::new();
    let output = iotoll()
        .args(["reproduce", "ram-drive-logging", "--dry-run"])
        .args(places.args())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let flowing = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains("Nothing was measured"), "{flowing}");
    places.assert_empty();
}
