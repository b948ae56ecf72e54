//! `cargo xtask bench promises` in a small form: the power fails a few times.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Nothing here takes a tenth of this.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why it cannot be tried here.
fn lacking() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("only root can mount");
    }
    if fs::File::options().read(true).write(true).open("/dev/fuse").is_err() {
        return Some("there is no /dev/fuse");
    }
    if !Path::new("/dev/loop-control").exists() {
        return Some("there are no loop devices");
    }
    let made = Command::new("mkfs.ext4").arg("-V").stderr(Stdio::null()).status();
    made.is_err().then_some("mkfs.ext4 is not installed")
}

fn bench(words: &[&str]) -> Command {
    let mut bench = Command::new(env!("CARGO_BIN_EXE_iotoll-bench"));
    bench.arg("promises").args(words);
    bench.env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap()));
    bench
}

/// What it says where it succeeds.
fn told(words: &[&str]) -> String {
    let Output { status, stdout, stderr } = bench(words).output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

#[test]
fn what_was_synced_is_there_after_a_power_failure_unless_the_disk_lies() {
    if let Some(why) = lacking() {
        println!("SKIPPED: {why}");
        return;
    }
    for only in ["log/dsync", "log/held sync=each", "cache/rename-fsync"] {
        let honest = told(&["--cuts=12", "--only", only]);
        assert!(honest.contains("| ext4 | 12 | held | nothing | 0 |"), "{honest}");
    }
    let lying = told(&["--cuts=12", "--only=log/dsync", "--lying"]);
    assert!(lying.contains("| ext4 | 12 | refuted by "), "{lying}");
}

#[test]
fn what_was_not_synced_is_seen_to_be_lost() {
    if let Some(why) = lacking() {
        println!("SKIPPED: {why}");
        return;
    }
    let held = told(&["--cuts=12", "--only=log/held sync=every 20"]);
    assert!(held.contains("| ext4 | 12 | held | in "), "{held}");
    let queued = told(&["--cuts=12", "--only=log/queued"]);
    assert!(queued.contains("| ext4 | 12 | held | in 12 cuts"), "{queued}");
}

#[test]
fn whoever_is_killed_leaves_nobody_behind() {
    if let Some(why) = lacking() {
        println!("SKIPPED: {why}");
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().to_str().unwrap();
    let mut bench = bench(&["--cuts=1000000", "--only=log/dsync"]);
    let bench = bench.env("TMPDIR", folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut bench = bench.spawn().unwrap();
    await_that("it mounts something", || {
        disks_in(folder) == 1 && mounts_of(bench.id(), folder) > 1
    });
    bench.kill().unwrap();
    bench.wait().unwrap();
    await_that("nobody is left", || disks_in(folder) == 0);
    let here = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!here.contains(folder), "{here}");
}

fn await_that(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "waited {PATIENCE:?} until {what}");
        sleep(Duration::from_millis(5));
    }
}

/// Processes that are a disk in this folder.
fn disks_in(folder: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    lines.filter(|line| line.contains("promises-disk") && line.contains(folder)).count()
}

/// Mounts in this folder as any thread of a process sees them.
fn mounts_of(process: u32, folder: &str) -> usize {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return 0 };
    let seen = threads.flatten().map(|thread| {
        let mounts = fs::read_to_string(thread.path().join("mountinfo")).unwrap_or_default();
        mounts.lines().filter(|line| line.contains(folder)).count()
    });
    seen.max().unwrap_or(0)
}
