//! Gates: each way in which one passes or fails, with its exit code.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{self, assert_fails, stderr, stdout};
use crate::runs::{Kept, TEN_BLOCKS, alone, json};

/// What a gate printed and wrote.
struct Judged {
    output: Output,
    junit: String,
}

impl Judged {
    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }
}

/// A run against a baseline, with `JUnit`'s XML and `GitHub`'s annotations.
fn judged(kept: &Kept, more: &[&str]) -> Judged {
    let file = kept.file("judged.xml");
    let _ = fs::remove_file(&file);
    let path = file.display().to_string();
    let output = kept.compare(&[&["--github", "--junit", &path], more].concat());
    Judged { output, junit: fs::read_to_string(&file).unwrap_or_default() }
}

#[test]
fn a_changed_parameter_leaves_nothing_to_compare_and_fails() {
    let kept = Kept::new();
    assert_eq!(kept.compare(&[]).status.code(), Some(0));
    let slow = kept.scaled("slow.json", 3.0);
    let changed = ["--set", "log.record=71", "--baseline", &slow];
    let failed = judged(&kept, &changed);
    assert_eq!(failed.code(), Some(6), "{}", stderr(&failed.output));
    assert!(failed.junit.contains("nothing was compared"), "{}", failed.junit);
    assert!(failed.junit.contains("failures=\"3\""), "{}", failed.junit);
    assert!(stdout(&failed.output).contains("::error title=no combination of the baseline"));
    assert!(stderr(&failed.output).contains("--allow-missing lets it pass"));
    let allowed = judged(&kept, &[&changed[..], &["--allow-missing"]].concat());
    assert_eq!(allowed.code(), Some(0), "{}", stderr(&allowed.output));
    assert!(allowed.junit.contains("failures=\"0\""), "{}", allowed.junit);
    assert!(!stdout(&allowed.output).contains("::error"), "{}", stdout(&allowed.output));
}

#[test]
fn a_combination_of_the_baseline_that_is_missing_fails_and_one_that_is_new_does_not() {
    let kept = Kept::new();
    assert_eq!(kept.compare(&["--strategy", "reopen"]).status.code(), Some(0));
    let both = kept.scaled("both.json", 3.0);
    let failed = judged(&kept, &["--baseline", &both]);
    assert_eq!(failed.code(), Some(6), "{}", stderr(&failed.output));
    assert!(stderr(&failed.output).contains("a combination of --baseline was not measured"));
    assert!(failed.junit.contains("failures=\"2\""), "{}", failed.junit);
    let annotation = "::error title=log/reopen@disk was not compared::";
    assert!(stdout(&failed.output).contains(annotation), "{}", stdout(&failed.output));
    assert_eq!(kept.compare(&["--baseline", &both, "--allow-missing"]).status.code(), Some(0));
    assert_eq!(kept.compare(&[]).status.code(), Some(0));
    let one = kept.scaled("one.json", 3.0);
    let more = kept.compare(&["--strategy", "reopen", "--baseline", &one]);
    assert_eq!(more.status.code(), Some(0), "{}", stderr(&more));
}

#[test]
fn limits_are_met_missed_or_undecided() {
    let kept = Kept::new();
    let met = judged(&kept, &["--fail", "log.time > 10s", "--fail", "log.syncs > 0"]);
    assert_eq!(met.code(), Some(0), "{}", stderr(&met.output));
    assert!(met.junit.contains("tests=\"4\" failures=\"0\" errors=\"0\""), "{}", met.junit);
    let missed = judged(&kept, &["--fail", "log/held@ram.time > 1ns"]);
    assert_eq!(missed.code(), Some(5), "{}", stderr(&missed.output));
    assert!(missed.junit.contains("tests=\"1\" failures=\"1\""), "{}", missed.junit);
    assert!(stdout(&missed.output).contains("::error title=log/held@ram.time > 1ns is missed::"));
    // One round has no stretches that could agree on a time, and counts are exact.
    let one = ["--blocks", "1", "--set", "log.sync=each"];
    let one = |limit| {
        let places = kept.places().args();
        let run = ["compare", &places[0], &places[1], "--study", "log", "--strategy", "held"];
        kept.run(&[&run[..], &one[..], &["--fail", limit]].concat())
    };
    let undecided = one("log.time > 1ns");
    assert_fails(&undecided, 4, &["undecided whether a limit"]);
    assert!(stdout(&undecided).contains("too few stretches"), "{}", stdout(&undecided));
    assert_fails(&one("log.syncs >= 1"), 5, &["a limit of --fail is missed"]);
    assert_eq!(one("log.syncs > 1/op").status.code(), Some(0));
}

#[test]
fn a_limit_on_what_does_not_exist_is_refused_before_anything_is_measured() {
    let kept = Kept::new();
    for (limit, expected) in [
        ("log.p98 > 5ms", "there is time, mean, p50, p90, p99, p999, max, cpu, syncs"),
        ("sqlite.syncs > 3", "nothing that `sqlite` names"),
        ("log.p99 > 5", "as in 5ms"),
        ("log.p99", "is not a limit"),
    ] {
        assert_fails(&kept.compare(&["--fail", limit]), 2, &[expected]);
        assert_fails(&kept.compare(&["--dry-run", "--fail", limit]), 2, &[expected]);
    }
    let plan = kept.file("plan.toml");
    let write = |fail: &str| {
        fs::write(&plan, format!("fail = {fail}\n[[study]]\nname = \"log\"\n")).unwrap();
        kept.compare(&["--dry-run", "--plan", &plan.display().to_string()])
    };
    assert_fails(&write("[\"log.p98 > 5ms\"]"), 2, &["no figure `p98`"]);
    assert_fails(&write("[\"log.p99\"]"), 2, &["plan.toml:1:9:", "is not a limit"]);
    assert_eq!(write("\"log.p99 > 5ms\"").status.code(), Some(0));
}

#[test]
fn a_recording_is_limited_per_operation() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = |args: &[&str], command: &str| {
        let mut recorder = common::iotoll();
        recorder.current_dir(folder.path()).args(["record", "--mechanism", "ptrace"]);
        recorder.args(args).args(["-o", "x.trace", "--", "sh", "-c", command]).output().unwrap()
    };
    let two = ": > a; sync a; sync a";
    let met = recorded(&["--ops", "2", "--fail", "syncs > 1/op"], two);
    assert_eq!(met.status.code(), Some(0), "{}", stderr(&met));
    let missed = recorded(&["--ops", "2", "--fail", "syncs > 0.9/op"], two);
    assert_fails(&missed, 5, &["a limit of --fail is missed"]);
    let own = recorded(&["--fail", "syncs > 1"], ": > a; sync a; sync a; exit 7");
    assert_eq!(own.status.code(), Some(7), "the command's own code comes first");
    assert_fails(&recorded(&["--fail", "sincs > 1"], two), 2, &["there is no figure `sincs`"]);
    assert_fails(&recorded(&["--fail", "syncs > 1/op"], two), 2, &["--ops 300"]);
}

#[test]
fn a_baseline_is_a_gate_that_says_what_failed_it() {
    let kept = Kept::new();
    assert_eq!(kept.compare(&[]).status.code(), Some(0));
    let (slow, fast) = (kept.scaled("slow.json", 3.0), kept.scaled("fast.json", 0.05));
    let xml = kept.file("junit.xml").display().to_string();
    let outputs = ["--junit", &xml, "--github"];
    let passed = kept.compare(&[&["--baseline", &slow], &outputs[..]].concat());
    assert_eq!(passed.status.code(), Some(0), "{}", stderr(&passed));
    assert!(stdout(&passed).contains("0 of 2 combinations are slower"), "{}", stdout(&passed));
    assert!(fs::read_to_string(&xml).unwrap().contains("failures=\"0\""));
    let failed = kept.compare(&[&["--baseline", &fast], &outputs[..]].concat());
    assert_eq!(failed.status.code(), Some(5), "{}", stderr(&failed));
    assert!(
        stderr(&failed).contains("a combination is slower than in that run"),
        "{}",
        stderr(&failed)
    );
    assert!(stdout(&failed).contains("::error title=log/held@disk is slower::log/held@disk is "));
    assert!(stdout(&failed).contains("Slower: log/held@disk"), "{}", stdout(&failed));
    assert!(fs::read_to_string(&xml).unwrap().contains("failures=\"2\""));
    // A saved run is a baseline, too. A wrong baseline is refused before anything is measured.
    let saved = kept.compare(&["--baseline", "last", "--json", "-"]);
    assert!(matches!(saved.status.code(), Some(0 | 5)));
    json(&stdout(&saved));
    let other = kept.compare(&["--baseline", "none.json"]);
    assert_fails(&other, 2, &["cannot use none.json as the baseline"]);
    let ram = common::place("ram", kept.places().ram.path());
    let others = ["compare", &ram, "--study", "page", "--blocks", "1", "--baseline", &slow];
    assert_fails(&kept.run(&others), 6, &["nothing of --baseline was measured"]);
    // Standard output has one of the outputs, in place of the report.
    let alone = stdout(&kept.compare(&["--junit", "-", "--fail", "log.p99 > 1h"]));
    assert!(alone.starts_with("<?xml") && alone.trim_end().ends_with('>'), "{alone}");
    let both = kept.compare(&["--junit", "-", "--json", "-", "--fail", "log.p99 > 1h"]);
    assert_fails(&both, 2, &["only one of", "can print to standard output"]);
    assert_fails(&kept.compare(&["--junit", &xml]), 2, &["--junit needs", "--baseline RUN"]);
}

#[test]
fn the_example_of_a_gate_passes_and_fails() {
    let kept = Kept::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ci");
    let binary = Path::new(env!("CARGO_BIN_EXE_iotoll"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary.parent().unwrap().display());
    let work = tempfile::tempdir().unwrap();
    let gate = |github: bool| {
        let mut command = Command::new(examples.join("gate.sh"));
        command.arg("baseline.json").args(kept.places().args());
        command.args(["--study", "log", "--strategy", "held"]).args(TEN_BLOCKS);
        command.current_dir(work.path()).env("PATH", &path);
        command.env("IOTOLL_DIR", kept.file("runs")).env_remove("GITHUB_ACTIONS");
        if github {
            command.env("GITHUB_ACTIONS", "true");
        }
        alone(&mut command)
    };
    let (baseline, xml) = (work.path().join("baseline.json"), work.path().join("iotoll.xml"));
    let first = gate(true);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(baseline.exists() && stdout(&first).contains("::warning"), "{}", stdout(&first));
    assert!(stderr(&first).contains("nothing was compared"), "{}", stderr(&first));
    assert!(fs::read_to_string(&xml).unwrap().contains("<skipped"));
    fs::rename(kept.scaled("slow.json", 3.0), &baseline).unwrap();
    let passed = gate(false);
    assert_eq!(passed.status.code(), Some(0), "{}", stderr(&passed));
    assert!(xml.exists() && !stdout(&passed).contains("::notice"));
    fs::rename(kept.scaled("fast.json", 0.05), &baseline).unwrap();
    let failed = gate(true);
    assert_eq!(failed.status.code(), Some(5), "{}", stderr(&failed));
    assert!(stdout(&failed).contains("::error "), "{}", stdout(&failed));
    for file in ["github-actions.yml", "gitlab-ci.yml"] {
        let text = fs::read_to_string(examples.join(file)).unwrap();
        assert!(text.contains("gate.sh baseline.json . /dev/shm --study log"), "{file}");
    }
}
