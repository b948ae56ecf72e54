//! Runs on kernels, and within filters of containers, that lack a system call: each does its job.

use crate::endings::trial::Trial;

/// As a kernel answers that does not have the call.
const MISSING: i32 = libc::ENOSYS;

/// Fails where a call is needed that only newer kernels have.
#[test]
fn a_run_does_without_each_call_that_older_kernels_lack() {
    let calls = [
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("openat2", libc::SYS_openat2),
        ("statx", libc::SYS_statx),
    ];
    for (name, number) in calls {
        let trial = Trial::new().refused((name, number, MISSING));
        let mut run = trial.compare(&["--study", "log,page,sqlite", "--rounds", "1"]).start();
        let status = run.await_end();
        let said = run.said();
        // One round is too short for a verdict.
        assert!(matches!(status.code(), Some(0 | 4)), "without {name}: {status}: {said}");
        assert!(
            run.out().contains("sqlite") && run.out().contains("log"),
            "without {name}: {said}"
        );
    }
}

/// Fails where a strategy that cannot be measured ends the run with a failure of a system call.
#[test]
fn without_io_uring_its_strategy_says_what_is_missing() {
    let trial = Trial::new().refused(("io_uring_setup", libc::SYS_io_uring_setup, MISSING));
    let asked = ["--study", "log", "--strategy", "held,uring", "--rounds", "1"];
    let mut run = trial.compare(&asked).start();
    let status = run.await_end();
    assert!(run.said().contains("io_uring"), "{status}: {}", run.said());
}
