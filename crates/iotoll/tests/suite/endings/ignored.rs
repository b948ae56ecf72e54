//! What a run leaves to whoever started it, and what it hands on to what it starts.
#![expect(unsafe_code, reason = "the test says what its command does between fork and exec")]

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use crate::endings::trial::{Running, Trial};
use crate::endings::{ENDLESS, PYTHON, is_skipped};

const ENDLESS_RUN: [&str; 10] = [
    "--study",
    "log",
    "--strategy",
    "held,flock",
    "--threshold",
    "0.0001%",
    "--budget",
    "10min",
    "--set",
    "log.writers=2",
];

/// A run that was started with a signal ignored, as `nohup` and shells do.
fn ignoring(signal: Signal) -> Running {
    let mut trial = Trial::new().compare(&ENDLESS_RUN);
    sys::start::ignore_signals(&mut trial.command, [signal.as_raw()]);
    trial.start()
}

#[test]
fn a_signal_that_is_ignored_at_the_start_stays_ignored() {
    for signal in [Signal::HUP, Signal::INT] {
        let mut running = ignoring(signal);
        running.await_process("__worker");
        running.signal(signal);
        sleep(Duration::from_secs(1));
        assert!(running.child.try_wait().unwrap().is_none(), "{signal:?} ended it");
        running.signal(Signal::TERM);
        assert_eq!(running.await_end().code(), Some(130));
        running.assert_gone();
    }
}

/// What a process has inherited: descriptors beyond the standard ones, and masks of
/// signals.
struct Inherited {
    descriptors: Vec<String>,
    blocked: u64,
    ignored: u64,
}

/// Nothing where it has ended, as workers do with their stretch.
fn inherited(pid: i32) -> Option<Inherited> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let mask = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let open = entries.filter_map(|entry| {
        let number: i32 = entry.file_name().to_str()?.parse().ok()?;
        let target = fs::read_link(entry.path()).unwrap_or_default();
        // What closes when a program begins was opened since: a file that Python writes.
        let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).ok()?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
        let flags = i32::from_str_radix(flags.trim(), 8).unwrap();
        let is_inherited = number > 2 && flags & libc::O_CLOEXEC == 0;
        is_inherited.then(|| format!("{number} {}", target.display()))
    });
    let descriptors = open.collect();
    Some(Inherited { descriptors, blocked: mask("SigBlk:"), ignored: mask("SigIgn:") })
}

#[test]
fn what_is_started_has_no_descriptor_of_ours_and_the_default_signals() {
    if is_skipped(PYTHON) {
        return;
    }
    let waits = "echo started {port}; exec sleep 1000";
    let workers = ["--study", "log", "--strategy", "python-file-handler,held", "--budget", "10min"];
    let started = [
        (Trial::new().load(ENDLESS, waits), "sleep 1000"),
        (Trial::new().compare(&[&workers[..], &["--set", "log.writers=2"]].concat()), "python3"),
    ];
    for (mut trial, part) in started {
        // SAFETY: between fork and exec the closure makes one system call. Cargo's own
        // descriptors are none of ours.
        unsafe {
            trial.command.pre_exec(|| {
                let flag = libc::CLOSE_RANGE_CLOEXEC as libc::c_int;
                libc::close_range(3, libc::c_uint::MAX, flag);
                Ok(())
            });
        }
        let mut running = trial.start();
        let found = loop {
            let process = running.await_process(part);
            sleep(Duration::from_millis(300));
            if let Some(found) = inherited(process.pid) {
                break found;
            }
        };
        assert_eq!(found.blocked, 0, "{part}");
        assert!(found.descriptors.is_empty(), "{part}: {:?}", found.descriptors);
        // Cargo may ignore signals of the C library's own, from 32 on; Python ignores SIGPIPE
        // by itself.
        let ignored = found.ignored & 0x7fff_ffff;
        assert!(ignored == 0 || part == "python3", "{part}: {ignored:x}");
        running.signal(Signal::KILL);
        running.await_end();
        running.assert_gone();
    }
}
