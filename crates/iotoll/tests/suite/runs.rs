//! Saved runs: listed, compared, run again and removed.

#![allow(clippy::unwrap_used)]

use crate::common;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use common::{Places, assert_fails, iotoll, stderr, stdout, unnamed};
use report::formats::{FORMATS, JSON};
use serde_json::Value;
use store::{Content, Store};
use tempfile::TempDir;

/// Held while something is measured: eight tests at once would leave each other no blocks.
static ALONE: Mutex<()> = Mutex::new(());

/// What a run is to be compared with another for.
pub(crate) const TEN_BLOCKS: [&str; 6] =
    ["--budget", "40s", "--threshold", "100%", "--blocks", "10"];

pub(crate) fn alone(command: &mut Command) -> Output {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    command.output().unwrap()
}

/// Two places and a run of ten blocks on them, which many tests begin with.
struct Measured {
    places: Places,
    run: OnceLock<TempDir>,
}

/// It is there for as long as a test uses it.
fn measured() -> Arc<Measured> {
    static SHARED: Mutex<Weak<Measured>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let measured = Arc::new(Measured { places: Places::new(), run: OnceLock::new() });
        *shared = Arc::downgrade(&measured);
        measured
    })
}

/// A store and two places, with the commands that use them.
pub(crate) struct Kept {
    folder: TempDir,
    measured: Arc<Measured>,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), measured: measured() }
    }

    /// One whose store has a run.
    pub(crate) fn with_a_run() -> Self {
        let kept = Self::new();
        kept.add_a_run();
        kept
    }

    /// Saves a run in the empty store.
    fn add_a_run(&self) {
        let run = self.measured.run.get_or_init(|| {
            let first = Self { folder: tempfile::tempdir().unwrap(), measured: measured() };
            let output = first.compare(&[]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            first.folder
        });
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(run.path().join("runs")).arg(self.folder.path());
        assert!(copy.status().unwrap().success());
    }

    pub(crate) fn places(&self) -> &Places {
        &self.measured.places
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = iotoll();
        command.env("IOTOLL_DIR", self.folder.path().join("runs")).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        alone(&mut self.command(args))
    }

    /// What it prints where all is well.
    pub(crate) fn said(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// A run of ten blocks, with time for them on a machine that is busy.
    pub(crate) fn compare(&self, more: &[&str]) -> Output {
        let places = self.places().args();
        let usual = ["compare", &places[0], &places[1], "--study", "log", "--strategy", "held"];
        self.run(&[&usual, &TEN_BLOCKS[..], more].concat())
    }

    /// Saves the last run so many times more, each under a name of its own.
    fn copy_last(&self, times: u32) {
        let store = Store::open(&self.file("runs")).unwrap();
        let last = store.load(&store.find("last").unwrap()).unwrap();
        let Content::Comparison(last) = last else { panic!("the last run is no comparison") };
        store.save_copies(&last, None, times).unwrap();
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The last run as a file, all its slices so many times as long.
    pub(crate) fn scaled(&self, name: &str, factor: f64) -> String {
        let file = self.file(name);
        let mut result: Value = serde_json::from_str(&self.said(&["show", "--json", "-"])).unwrap();
        for slice in result["slices"].as_array_mut().unwrap() {
            let elapsed = &mut slice["spent"]["elapsed_ns"];
            *elapsed = ((elapsed.as_f64().unwrap() * factor) as u64).into();
        }
        result["run"]["id"] = "00000000000000aa".into();
        fs::write(&file, result.to_string()).unwrap();
        file.display().to_string()
    }
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn history_draws_each_combination_over_all_runs_as_a_page() {
    let kept = Kept::with_a_run();
    let page = kept.file("history.html");
    let path = page.display().to_string();
    let draw = || {
        let output = kept.run(&["history", "--html", &path]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        fs::read_to_string(&page).unwrap()
    };
    let both = ["history", "--html", &path, "--json", &path];
    assert_fails(&kept.run(&both), 2, &["add --trend, and name two files"]);
    assert_fails(&kept.run(&[&both[..], &["--trend"]].concat()), 2, &["name two files"]);
    let few = draw();
    assert!(few.contains("Add some with `iotoll rerun`") && !few.contains("<svg"), "{few}");
    kept.copy_last(9);
    let drawn = draw();
    for place in ["disk", "ram"] {
        assert!(drawn.contains(&format!("log/held@{place}</text>")), "{drawn}");
    }
    assert_eq!(drawn.matches("10 runs</tspan>").count(), 2);
    // A dot for each run, and a level for both rows, though nothing changed.
    let dots = drawn.split("class=\"points").skip(1).map(|row| row.split('>').next().unwrap());
    assert_eq!(dots.map(|row| row.matches("h0").count()).collect::<Vec<_>>(), [10, 10]);
    assert_eq!(drawn.matches("<path class=\"median\"").count(), 2);
    // The table has each run's time, as the trend does.
    let trend = json(&kept.said(&["history", "--trend", "--json", "-"]));
    let run = trend["arms"][0]["runs"][0]["run"].as_str().unwrap();
    assert!(drawn.contains(&run[..8]), "no row of {run}");
}

#[test]
fn history_lists_the_latest_first_and_only_what_is_asked_for() {
    let kept = Kept::new();
    assert_eq!(kept.said(&["history"]), "no runs are saved yet; `iotoll compare` saves one\n");
    assert!(!kept.file("runs").exists(), "listing made it");
    kept.add_a_run();
    let alone = common::place("alone", kept.places().ram.path());
    kept.said(&["compare", &alone, "--study", "files", "--budget", "1s"]);
    let all = json(&kept.said(&["history", "--json", "-"]));
    assert_eq!(all["schema"], "iotoll.history/1");
    let runs = all["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["studies"], serde_json::json!(["files"]));
    assert_eq!(runs[1]["places"], serde_json::json!(["disk", "ram"]));
    // By its ten rounds, whether they have decided all or not.
    let ended = runs[1]["ended"].as_str().unwrap();
    assert!(["finished", "ended early"].contains(&ended), "{ended}");
    assert!(runs[1]["answer"].as_str().unwrap().contains("log"), "{all}");
    let text = kept.said(&["history"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("log on disk, ram") && text.contains("files on alone"), "{text}");
    let listed = |args: &[&str]| {
        let list = json(&kept.said(&[&["history", "--json", "-"], args].concat()));
        let runs = list["runs"].as_array().unwrap().clone();
        runs.iter().map(|run| run["studies"][0].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(&["--study", "log"]), ["log"]);
    assert_eq!(listed(&["--place", "alone"]), ["files"]);
    assert_eq!(listed(&["--limit", "1"]), ["files"]);
    assert_eq!(listed(&["--since", "1d"]), ["files", "log"]);
    assert_eq!(listed(&["--since", "2999-01-01"]), [""; 0]);
    assert_fails(&kept.run(&["history", "--since", "now"]), 2, &["neither a date nor an age"]);
    assert!(kept.said(&["history", "--limit", "1"]).contains("and 1 older run; use --limit"));
    assert_eq!(kept.said(&["history", "--study", "page"]), "no saved run matches\n");
    // By the names that it lists, and by how far back they are.
    let name = runs[1]["name"].as_str().unwrap();
    let [by_name, by_age] = [name, "last~1"].map(|run| unnamed(&kept.said(&["show", run]), run));
    assert_eq!(by_name, by_age);
    assert_fails(
        &kept.run(&["show", "last~2"]),
        2,
        &["there is no last~2: `iotoll history` has only 2 runs"],
    );
}

#[test]
fn prune_removes_what_it_is_told_to_and_says_so() {
    let kept = Kept::new();
    assert_fails(&kept.run(&["prune", "--keep", "1"]), 2, &["no runs are saved"]);
    kept.add_a_run();
    kept.copy_last(2);
    let names = || -> Vec<String> {
        let list = json(&kept.said(&["history", "--json", "-"]));
        let runs = list["runs"].as_array().unwrap().iter();
        runs.map(|run| run["name"].as_str().unwrap().to_owned()).collect()
    };
    let before = names();
    assert_fails(&kept.run(&["prune"]), 2, &["no runs to remove were given"]);
    assert_fails(&kept.run(&["prune", "last", "last~7"]), 2, &["nothing was removed"]);
    assert_fails(&kept.run(&["prune", "last", "--keep", "1"]), 2, &["cannot be used with"]);
    let dry = kept.said(&["prune", "--keep", "1", "--dry-run"]);
    assert!(dry.contains("2 runs would be removed (dry run)"), "{dry}");
    assert!(kept.said(&["prune", "--older-than", "1h"]).starts_with("0 runs removed"));
    assert!(kept.said(&["prune", "--older-than", "0s", "--keep", "3"]).starts_with("0 runs"));
    assert!(kept.said(&["prune", "--older-than", "99y"]).starts_with("0 runs"));
    assert_eq!(kept.said(&["history", "--since", "99y"]), kept.said(&["history"]));
    assert_eq!(names(), before);
    let removed = kept.said(&["prune", &before[1]]);
    assert!(removed.starts_with(&format!("removed {}", before[1])), "{removed}");
    assert!(removed.contains("1 run removed; ") && removed.contains(" freed"), "{removed}");
    assert_eq!(names(), [before[0].clone(), before[2].clone()]);
    kept.said(&["prune", "--keep", "1"]);
    assert_eq!(names(), [before[0].clone()]);
    kept.said(&["show", &before[0]]);
}

#[test]
fn a_run_is_run_again_with_its_plan_and_seed_here_or_elsewhere() {
    let kept = Kept::new();
    let set = ["--set", "log.record=70,uniform 1 KiB..2 KiB", "--set", "log.sync=never,every 10"];
    let options = ["--seed", "17", "--per-second", "50"];
    let compared = kept.compare(&[&set[..], &options].concat());
    assert_eq!(compared.status.code(), Some(0), "{}", stderr(&compared));
    let first = kept.file("first.json").display().to_string();
    kept.said(&["show", "--json", &first]);
    let formats = FORMATS.iter().filter(|format| format.flag != JSON.format.flag);
    let files: Vec<_> = formats.map(|format| kept.file(format.flag)).collect();
    let written = files.iter().map(|file| {
        let flag = file.file_name().unwrap().display();
        format!("--{flag}={}", file.display())
    });
    let written: Vec<String> = written.collect();
    let written = written.iter().map(String::as_str);
    let args: Vec<&str> =
        ["rerun", "last", "--quiet", "--json", "-"].into_iter().chain(written).collect();
    let rerun = kept.run(&args);
    assert_eq!((rerun.status.code(), stderr(&rerun).as_str()), (Some(0), ""));
    let again = json(&stdout(&rerun));
    let then = json(&fs::read_to_string(&first).unwrap());
    assert_eq!(again["plan"], then["plan"]);
    assert_eq!(again["run"]["seed"], 17);
    assert_ne!(again["run"]["id"], then["run"]["id"]);
    for file in &files {
        assert!(fs::metadata(file).unwrap().len() > 100, "{}", file.display());
    }
    // Its arms are the same, so the two can be compared.
    let diff = json(&kept.said(&["diff", "--json", "-"]));
    assert_eq!(diff["arms"].as_array().unwrap().len(), then["arms"].as_array().unwrap().len());
    assert_eq!(diff["facts"], serde_json::json!([]));
    // From a file, at other places and for another time.
    let elsewhere = tempfile::tempdir_in(kept.places().ram.path()).unwrap();
    let ram = common::place("ram", elsewhere.path());
    let moved = kept.said(&["rerun", &first, &ram, "--budget", "2s", "--json", "-", "--no-save"]);
    let moved = json(&moved);
    assert_eq!(moved["places"][0]["path"], then["places"][0]["path"]);
    assert_ne!(moved["places"][1]["path"], then["places"][1]["path"]);
    assert_eq!(moved["plan"]["budget_s"], 2.0);
    assert_eq!(moved["plan"]["arms"], then["plan"]["arms"]);
    let nowhere = kept.run(&["rerun", &first, "ram=/nowhere"]);
    assert_fails(
        &nowhere,
        2,
        &["its place ram needs the directory /nowhere", "name another, as in ram=/srv"],
    );
    assert_fails(&kept.run(&["rerun", "last~9"]), 2, &["cannot run last~9 again"]);
}

#[test]
fn commands_in_a_file_are_run_only_where_that_is_allowed() {
    let kept = Kept::new();
    let ran = kept.file("ran");
    let server = format!("touch {}; exec false {{port}}", ran.display());
    let serve =
        ["--study", "serve", "--strategy", "command", "--set", &format!("serve.command={server}")];
    let ram = common::place("ram", kept.places().ram.path());
    let file = kept.file("foreign.json").display().to_string();
    let all = [&["compare", &ram, "--budget", "1s", "--json", &file], &serve[..]].concat();
    kept.run(&all);
    assert!(ran.exists(), "the command is one that is run");
    fs::remove_file(&ran).unwrap();
    let refused = kept.run(&["rerun", &file]);
    let command = format!("serve.command    {server}");
    assert_fails(&refused, 2, &["nothing was run or read", "--allow-commands", &command]);
    assert!(!ran.exists(), "it was run");
    kept.run(&["rerun", &file, "--allow-commands"]);
    assert!(ran.exists());
}

#[test]
fn diff_names_what_changed_and_nothing_else() {
    let kept = Kept::with_a_run();
    let same = kept.scaled("same.json", 1.0);
    let text = kept.said(&["diff", &same, "last"]);
    assert!(text.contains("The machine and the places are the same."), "{text}");
    assert!(text.contains("No change") && text.contains("which is assumed"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let faster = kept.scaled("faster.json", 0.1);
    let text = kept.said(&["diff", &faster, "last", "--threshold", "5%"]);
    assert!(
        text.contains("Slower: log/held@disk (10× slower), log/held@ram (10× slower)."),
        "{text}"
    );
    let back = json(&kept.said(&["diff", "last", &faster, "--json", "-"]));
    assert_eq!(back["schema"], "iotoll.diff/1");
    assert_eq!(back["arms"][0]["verdict"], "faster");
    let half = kept.scaled("half.json", 0.5);
    let little = json(&kept.said(&["diff", &half, "last", "--threshold", "100%", "--json", "-"]));
    assert_eq!(little["arms"][0]["verdict"], "unclear");
    assert_fails(&kept.run(&["diff", "last", "nothing.json"]), 2, &["cannot compare nothing.json"]);
    assert_fails(&kept.run(&["diff"]), 2, &["has only 1 run"]);
}

#[test]
fn repeated_runs_teach_what_runs_vary_by() {
    let kept = Kept::with_a_run();
    kept.copy_last(5);
    let diff = json(&kept.said(&["diff", "--json", "-"]));
    assert_eq!(diff["arms"][0]["learned_from"], 4, "{}", diff["arms"]);
    // What an older version saved without its tolls is read again.
    let database = kept.file("runs").join("runs.db");
    let forget = "DELETE FROM toll; UPDATE run SET ended = NULL, answer = NULL;";
    rusqlite::Connection::open(database).unwrap().execute_batch(forget).unwrap();
    let again = json(&kept.said(&["diff", "--json", "-"]));
    assert_eq!(again, diff);
}

#[test]
fn a_run_learns_from_saved_ones_and_keeps_what_it_learned() {
    let kept = Kept::with_a_run();
    let first = json(&kept.said(&["show", "--json", "-"]));
    assert!(first.get("between_runs").is_none() && first["comparisons"][0]["other_runs"].is_null());
    assert!(kept.said(&["show", "--full"]).contains("Intervals are of this run alone"));
    kept.copy_last(5);
    let shown = kept.compare(&["--full"]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    let after = json(&kept.said(&["show", "--json", "-"]));
    let learned = &after["between_runs"][0];
    assert_eq!(
        (&learned["time"]["runs"], &learned["p99"]["runs"]),
        (&6.into(), &6.into()),
        "{learned}"
    );
    let other_runs = &after["comparisons"][0]["other_runs"];
    assert_eq!(other_runs["learned_from"], 6);
    let low = |of: &Value, name: &str| of[name].as_f64().unwrap();
    let widened = low(&after["comparisons"][0], "ratio_low") <= low(other_runs, "this_run_low");
    assert!(widened, "{other_runs}");
    // A run that follows changes nothing about it.
    kept.compare(&[]);
    assert_eq!(kept.said(&["show", "last~1", "--full"]), stdout(&shown));
    assert!(stdout(&shown).contains("What another run would find"), "{}", stdout(&shown));
}

#[test]
fn a_trend_says_when_an_arm_changed_and_what_else_did() {
    let kept = Kept::new();
    assert!(kept.said(&["history", "--trend"]).contains("no runs are saved yet"));
    kept.add_a_run();
    assert!(kept.said(&["history", "--trend"]).contains("No combination has 8 saved runs yet"));
    kept.copy_last(15);
    let steady = json(&kept.said(&["history", "--trend", "--json", "-"]));
    assert_eq!(steady["schema"], "iotoll.trend/1");
    assert_eq!(steady["arms"][0]["runs"].as_array().map(Vec::len), Some(16));
    assert_eq!(steady["arms"][0]["changes"], serde_json::json!([]));
    let database = rusqlite::Connection::open(kept.file("runs").join("runs.db")).unwrap();
    let slower = "UPDATE toll SET log_toll = log_toll + 0.5 WHERE run > 7";
    database.execute_batch(slower).unwrap();
    let text = kept.said(&["history", "--trend"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("log/held@disk\n  16 runs since"), "{text}");
    assert!(text.contains("▁▁▁▁▁▁▁█████████") && text.contains("         ^"), "{text}");
    assert!(text.contains("00000006: 1.6× slower, "), "{text}");
    assert!(text.contains("the machine and the places were the same"), "{text}");
    let latest = json(&kept.said(&["history", "--trend", "--limit", "9", "--json", "-"]));
    assert_eq!(latest["arms"][0]["runs"].as_array().map(Vec::len), Some(9));
    assert_eq!(latest["arms"][0]["changes"], serde_json::json!([]));
}
