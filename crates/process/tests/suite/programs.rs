//! Commands that come to their end by themselves.

#![allow(clippy::unwrap_used, missing_docs)]

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

#[test]
fn starting_a_large_process_is_no_part_of_what_a_command_takes() {
    // Forking has to copy what maps this, and all of it that is written again.
    let mut large = vec![1_u8; 600 << 20];
    let began = Instant::now();
    let mut program = Program::start(shell("sleep 0.05"), "sleep", None).unwrap();
    let started = began.elapsed();
    let took = program.wait(PATIENCE, &AtomicBool::new(false)).unwrap();
    let wall = began.elapsed();
    large.fill(2);
    assert!(took >= Duration::from_millis(50) && took < wall, "{took:?} of {wall:?}");
    assert!(wall - took >= started / 4, "{took:?} of {wall:?}, after {started:?} to start");
    // Asked again, it is the same.
    assert_eq!(program.wait(PATIENCE, &AtomicBool::new(false)).unwrap(), took);
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
