//! The processes in which a run's slices run: each has one thread, serves one stretch, ends with
//! the run, and may die.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{assert_fails, iotoll};
use crate::endings::trial::{HANG, Marked, Running, Trial};

const SLICES: &str = "__slices";
/// It never decides anything, and its stretches last some 2 s.
const ENDLESS: [&str; 8] =
    ["--study", "log", "--strategy", "held,reopen", "--threshold", "0.0001%", "--budget", "20s"];

/// The number of its threads; nothing where it has ended.
fn threads(process: &Marked) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid)).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"))?;
    Some(line.trim().parse().unwrap())
}

/// Waits until so many processes have run slices, one after the other.
fn await_processes(running: &mut Running, wanted: usize) {
    let (began, mut seen) = (Instant::now(), BTreeSet::new());
    while seen.len() < wanted {
        assert!(began.elapsed() < HANG, "{seen:?}: {}", running.said());
        let all = running.alive();
        let now: Vec<i32> =
            all.iter().filter(|it| it.command.contains(SLICES)).map(|it| it.pid).collect();
        assert!(now.len() <= 1, "{all:?}");
        seen.extend(now);
        assert!(running.child.try_wait().unwrap().is_none(), "{}", running.said());
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn slices_run_in_a_process_with_one_thread_and_each_stretch_has_another() {
    let mut running = Trial::new().compare(&ENDLESS).start();
    let process = running.await_process(SLICES);
    for _ in 0..200 {
        let threads = threads(&process);
        assert!(threads.is_none_or(|threads| threads == 1), "{threads:?}");
        sleep(Duration::from_millis(3));
    }
    await_processes(&mut running, 3);
    running.signal(Signal::TERM);
    assert_eq!(running.await_end().code(), Some(130), "{}", running.said());
    running.assert_gone();
}

#[test]
fn it_ends_with_the_run_however_that_ends() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let mut running = Trial::new().compare(&ENDLESS).start();
        running.await_process(SLICES);
        running.signal(signal);
        let status = running.await_end();
        assert!(signal == Signal::KILL || status.code() == Some(130), "{}", running.said());
        running.assert_gone();
    }
}

#[test]
fn one_that_dies_ends_an_arm_and_the_others_go_on_in_a_new_one() {
    for (signal, says) in [
        (Signal::KILL, "the process that runs slices was killed"),
        (Signal::TERM, "the process that runs slices was told to end by a signal (SIGTERM)"),
    ] {
        // Stretches of 12 s.
        let trial = Trial::new().compare(&[&ENDLESS[..6], &["--budget", "2min"]].concat());
        let mut running = trial.start();
        await_processes(&mut running, 2);
        let process = running.await_process(SLICES);
        let pid = Pid::from_raw(process.pid).unwrap();
        kill_process(pid, signal).unwrap();
        let began = Instant::now();
        while running.await_process(SLICES).pid == process.pid {
            assert!(began.elapsed() < HANG, "{}", running.said());
        }
        running.signal(Signal::TERM);
        assert_eq!(running.await_end().code(), Some(130), "{}", running.said());
        assert!(running.said().contains(says), "{}", running.said());
        running.assert_gone();
    }
}

#[test]
fn what_is_the_users_is_read_once_for_all_stretches() {
    let trial = Trial::new();
    let own = trial.folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("a"), "some text").unwrap();
    fs::write(own.join("b"), "more of it").unwrap();
    let from = format!("files.set={}", own.display());
    let args = ["--study", "files", "--strategy", "rename,direct", "--set", &from];
    let args = [&args[..], &["--threshold", "0.0001%", "--budget", "20s"]].concat();
    let mut running = trial.compare(&args).start();
    running.await_process(SLICES);
    fs::remove_dir_all(&own).unwrap();
    await_processes(&mut running, 3);
    running.signal(Signal::TERM);
    assert_eq!(running.await_end().code(), Some(130), "{}", running.said());
    assert!(!running.said().contains("cannot be read"), "{}", running.said());
    running.assert_gone();
}

#[test]
fn by_hand_it_says_what_to_run_instead() {
    for stdin in [Stdio::null(), Stdio::piped()] {
        let output = iotoll().arg(SLICES).stdin(stdin).output().unwrap();
        assert_fails(&output, 2, &["which starts it", "iotoll compare"]);
    }
}
