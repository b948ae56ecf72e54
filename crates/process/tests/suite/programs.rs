//! Commands that come to their end by themselves.

#![allow(clippy::unwrap_used, missing_docs)]

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotoll_process::{Error, Program};

const PATIENCE: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script]);
    shell
}

#[test]
fn what_it_wrote_and_how_it_ended_is_known() {
    let script = "echo out; echo err >&2; exit 7";
    for (asked, output) in [(Some(100), "out\n"), (None, "")] {
        let mut program = Program::start(shell(script), script, asked).unwrap();
        program.wait(PATIENCE, &AtomicBool::new(false)).unwrap();
        let ended = program.finish().unwrap();
        assert_eq!((ended.status, ended.output.as_slice()), (7, output.as_bytes()));
        assert_eq!(ended.stderr, ["err"]);
    }
}

/// Fails where what it takes to fork a large process, or to enter a view, counts as the command's time
/// or as its processor time.
#[test]
#[expect(unsafe_code, reason = "only what runs between fork and exec can take its time there")]
fn starting_a_command_is_no_part_of_what_it_takes() {
    const STARTING: Duration = Duration::from_millis(150);
    let mut command = shell("sleep 0.05");
    let slowly = || {
        let began = Instant::now();
        while began.elapsed() < STARTING {}
        Ok(())
    };
    // SAFETY: it reads the clock, and does nothing else.
    unsafe { command.pre_exec(slowly) };
    let began = Instant::now();
    let mut program = Program::start(command, "sleep", None).unwrap();
    let took = program.wait(PATIENCE, &AtomicBool::new(false)).unwrap();
    let wall = began.elapsed();
    assert!(took >= Duration::from_millis(50) && took + STARTING <= wall, "{took:?} of {wall:?}");
    let used = program.spent();
    let cpu = Duration::from_nanos(used.user_ns + used.system_ns);
    assert!(cpu > Duration::ZERO && cpu < took, "{used:?}");
    // Asked again, it is the same.
    assert_eq!(program.wait(PATIENCE, &AtomicBool::new(false)).unwrap(), took);
}

/// Fails where a command that starts a daemon is waited for with it, or the daemon lives on.
#[test]
fn what_a_command_leaves_behind_is_ended_and_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late");
    let script = format!("setsid sh -c 'sleep 4; echo late > {}' & echo out", file.display());
    let begun = Instant::now();
    let mut program = Program::start_alone(shell(&script), &script, Some(100)).unwrap();
    let took = program.wait(PATIENCE, &AtomicBool::new(false)).unwrap();
    assert!(took < Duration::from_secs(2), "{took:?}");
    let ended = program.finish().unwrap();
    assert_eq!((ended.status, &*ended.output, ended.left_others), (0, &b"out\n"[..], true));
    let mut program = Program::start_alone(shell("exit 3"), "exit 3", None).unwrap();
    program.wait(PATIENCE, &AtomicBool::new(false)).unwrap();
    let ended = program.finish().unwrap();
    assert_eq!((ended.status, ended.left_others), (3, false));
    sleep(Duration::from_secs(5).saturating_sub(begun.elapsed()));
    assert!(!file.exists(), "it went on");
}

#[test]
fn one_that_is_given_up_ends_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late");
    let script = format!("(sleep 3; echo late > {}) & sleep 30", file.display());
    let begun = Instant::now();
    let mut program = Program::start(shell(&script), &script, None).unwrap();
    let given_up = program.wait(Duration::from_millis(100), &AtomicBool::new(false)).unwrap_err();
    assert!(given_up.to_string().contains("had not ended after 0.1 s"), "{given_up}");
    drop(program);
    let mut program = Program::start(shell(&script), &script, None).unwrap();
    let stopped = program.wait(PATIENCE, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(stopped, Error::Stopped), "{stopped}");
    drop(program);
    sleep(Duration::from_secs(4).saturating_sub(begun.elapsed()));
    assert!(!file.exists(), "something went on");
}
