//! What a run takes of a machine that others use, too: known before, limited, and given up
//! where others need it.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

use crate::common;

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Places, assert_fails, entries, iotoll, place, run, slice_folders, stderr, stdout};
use tempfile::TempDir;

/// A file system in memory of the test's own.
struct Small(TempDir);

impl Small {
    /// Nothing where this machine does not allow it, loudly.
    fn new(options: &str) -> Option<Self> {
        let made = Self(tempfile::tempdir().unwrap());
        fs::create_dir(made.point()).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(made.point());
        let mounted = mount.stderr(Stdio::null()).status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(made);
        }
        eprintln!("SKIPPED: no file system can be mounted here");
        None
    }

    fn point(&self) -> PathBuf {
        self.0.path().join("mnt")
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.point()).stderr(Stdio::null()).status();
    }
}

/// A run that would go on for minutes.
fn long_run(small: &Small, study: &[&str]) -> Child {
    let mut command = iotoll();
    command.arg("compare").arg(place("a", &small.point())).args(study);
    command.args(["--threshold", "0.0001%", "--budget", "10min"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Fills the file system so many slices after the first that is seen, and waits for the run's end.
fn filled_meanwhile(small: &Small, mut child: Child, after: u64) -> Output {
    let began = Instant::now();
    let number = |folder: &PathBuf| folder.to_string_lossy().rsplit('-').next()?.parse().ok();
    let newest = || slice_folders(&small.point()).iter().filter_map(number).max();
    let mut first: Option<u64> = None;
    while newest().is_none_or(|newest| newest < *first.get_or_insert(newest) + after) {
        assert!(began.elapsed() < Duration::from_secs(60), "that slice did not run");
        sleep(Duration::from_millis(1));
    }
    let filler = File::create(small.point().join("filler")).unwrap();
    let space = rustix::fs::fstatvfs(&filler).unwrap();
    // Half of the margin stays, which is an eighth of so small a file system.
    let taken = (space.f_bavail - space.f_blocks / 16) * space.f_frsize;
    rustix::fs::fallocate(&filler, rustix::fs::FallocateFlags::empty(), 0, taken).unwrap();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(120) {
            child.kill().unwrap();
            panic!("the run did not end");
        }
        sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn assert_ended_early(small: &Small, output: &Output) {
    assert_fails(output, 1, &["ended early", "is free there now, but 33.6 MB must stay free"]);
    assert!(stdout(output).contains("Ended early: a="), "{}", stdout(output));
    assert_eq!(entries(&small.point()), [small.point().join("filler")], "something was left");
}

#[test]
fn a_run_ends_with_what_was_measured_when_others_fill_its_place() {
    let Some(small) = Small::new("size=256m") else { return };
    let child = long_run(&small, &["--study", "log", "--strategy", "held,reopen"]);
    // After those that calibrate and warm up.
    let output = filled_meanwhile(&small, child, 60);
    assert_ended_early(&small, &output);
    assert!(!stdout(&output).contains(" 0 rounds"), "{}", stdout(&output));
}

#[test]
fn so_does_a_run_whose_server_is_the_users() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: no python3 here");
        return;
    }
    let Some(small) = Small::new("size=256m") else { return };
    let server = "serve.command=exec python3 -m http.server {port} --bind 127.0.0.1";
    // One slice is longer than the whole test may take.
    let study = ["--study", "serve", "--strategy", "command", "--set", server];
    let slow = ["--set", "serve.rate=20", "--set", "serve.connections=2000"];
    let output = filled_meanwhile(&small, long_run(&small, &[&study[..], &slow].concat()), 0);
    assert!(stderr(&output).contains("is free there now, but 33.6 MB"), "{}", stderr(&output));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(entries(&small.point()), [small.point().join("filler")], "something was left");
}

#[test]
fn too_few_inodes_are_refused_before_anything_is_made() {
    for (inodes, study) in [("12", "log"), ("40", "files")] {
        let Some(small) = Small::new(&format!("size=256m,nr_inodes={inodes}")) else { return };
        let output = run(["compare", &place("a", &small.point()), "--study", study]);
        assert_fails(&output, 1, &["files are created there", "df -i", "must stay free"]);
        assert!(entries(&small.point()).is_empty());
    }
}

#[test]
fn a_run_ends_before_its_write_limit_is_passed_and_says_so() {
    let places = Places::new();
    // A place held against itself is never found to differ. What others write counts, too.
    let twins = ["a", "b"].map(|label| place(label, places.disk.path()));
    let json = places.ram.path().join("r.json");
    let study = ["compare", &twins[0], &twins[1], "--study", "stream"];
    let rest = ["--budget", "5min", "--threshold", "0.0001%", "--json", json.to_str().unwrap()];
    let sizes = ["--set", "stream.total=4 MiB", "--write-limit", "256 MiB"];
    let output = run([&study[..], &rest, &sizes].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("Ended early: of the 256 MiB that the run may write"), "{text}");
    let result: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let writes = &result["run"]["writes"];
    let written = |place: usize| writes["places"][place]["written_bytes"].as_u64().unwrap();
    // What others wrote during the last slice comes on top. Without a limit it would be
    // gigabytes.
    let sum = written(0) + written(1);
    assert!(written(0) > 4 << 20 && sum <= 512 << 20, "{writes}");
    assert!(result["run"]["ended_early"].is_string() && result["run"]["interrupted"] == false);
}

#[test]
fn a_limit_that_not_even_a_slice_keeps_to_is_an_error() {
    let places = Places::new();
    let disk = place("disk", places.disk.path());
    let output = run(["compare", &disk, "--study", "stream", "--write-limit", "1 MiB"]);
    assert_fails(&output, 1, &["nothing could be measured", "the next slice could write 33.6 MB"]);
    places.assert_empty();
}

#[test]
fn a_dry_run_says_what_would_be_written_at_most() {
    let places = Places::new();
    let args = places.args();
    let args = ["compare", &args[0], &args[1], "--study", "stream", "--dry-run"];
    let output = run([&args[..], &["--write-limit", "3 GiB"]].concat());
    let text = stdout(&output);
    let text = text.split_once("\nAt most\n").unwrap().1.replace("\n            ", " ");
    let line = |label: &str| {
        let found = text.lines().find(|line| line.split_whitespace().next() == Some(label));
        found.unwrap_or_else(|| panic!("no {label} in:\n{text}")).to_owned()
    };
    assert!(line("time").contains("30s; the run ends sooner"), "{text}");
    assert!(line("disk").contains("inodes at once"), "{text}");
    assert!(line("disk").contains("3 GiB written over the run (--write-limit)"), "{text}");
    assert!(line("ram").contains("memory, which does not wear"), "{text}");
    places.assert_empty();
}

#[test]
fn a_gentle_run_says_that_it_was() {
    let places = Places::new();
    let disk = place("disk", places.disk.path());
    let study = ["--study", "log", "--strategy", "held,reopen", "--budget", "4s"];
    let output = run([&["compare", disk.as_str(), "--gentle", "--json", "-"], &study[..]].concat());
    let result: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(result["plan"]["gentle"], true);
    // Most of the time went into pauses.
    let slices = result["slices"].as_array().unwrap();
    let elapsed_ns = slices.iter().map(|s| s["spent"]["elapsed_ns"].as_u64().unwrap()).sum::<u64>();
    assert!(!slices.is_empty() && elapsed_ns < 1_000_000_000, "{elapsed_ns} ns of 4 s");
}

#[test]
fn clean_leaves_foreign_folders_until_they_are_asked_for() {
    let places = Places::new();
    let folder = places.disk.path().join(".iotoll-0123456789abcdef");
    fs::create_dir(&folder).unwrap();
    let lock = "pid 7\nstarted 2026-01-01T00:00:00Z\nstarted_ns 1\npid_namespace 1\nboot b\n\
                machine m\nhost web2\nend\n";
    fs::write(folder.join("lock"), lock).unwrap();
    let args = places.args();
    let kept = run(["clean", &args[0], &args[1]]);
    assert!(kept.status.success() && folder.exists());
    assert!(stdout(&kept).contains("process 7 on the host web2"), "{}", stdout(&kept));
    assert!(stderr(&kept).contains("iotoll clean --foreign"), "{}", stderr(&kept));
    assert!(run(["clean", &args[0], "--foreign"]).status.success());
    places.assert_empty();
}
