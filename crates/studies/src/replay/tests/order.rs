//! What threads wait for each other for.

use std::sync::Arc;

use super::*;
use crate::replay::act::Buffers;
use crate::replay::cold_cache_penalty::Curve;
use crate::replay::config::Config;
use crate::replay::fill::Fills;
use crate::replay::run::{Tally, Thinking, Threads};
use crate::replay::shared_state::SharedState;

/// Replays a program without any thinking.
fn run(program: Program) -> Tally {
    run_thinking(program, Thinking { kept: 0.0, after_wait: Curve::default() })
}

fn run_thinking(program: Program, thinking: Thinking) -> Tally {
    let folder = testing::in_memory();
    let opened = fs::File::open(folder.path()).unwrap().into();
    let mut fills = Fills::default();
    (0..=16).for_each(|fill| fills.with(fill, 1 << 16));
    crate::replay::prepare::make(&program, &opened, &fills, None).unwrap();
    let timer = testing::timer();
    let (clock, stop) = (timer.clock().clone(), Arc::clone(timer.stop_flag()));
    let shared_state = SharedState::new(Arc::new(program), opened, true, fills, clock, stop);
    let mut none = Buffers::new(0, 0);
    for act in &Arc::clone(&shared_state.program).opened {
        shared_state.act(act, &mut none);
    }
    Threads::start(Arc::new(shared_state), thinking).unwrap().run().unwrap()
}

/// One thread writes a file after much else, and another reads it.
fn written_by_one_and_read_by_another() -> TestTrace {
    let mut told = TestTrace::new();
    told.fork(MAIN, 101);
    let other = told.open(MAIN, "other", MAKES);
    for _ in 0..3000 {
        told.write(MAIN, other, 4096);
    }
    let file = told.open(MAIN, "file", MAKES);
    told.write(MAIN, file, 100);
    told.fds.insert(101, 20);
    let read = told.open(101, "file", RDONLY);
    told.read(101, read, 100, 100);
    told.on(101, Op::Unlink, "file", 0);
    told.on(MAIN, Op::Stat, "file", MISSING);
    told
}

#[test]
fn a_thread_reads_what_another_has_written_in_every_replay() {
    for _ in 0..20 {
        let tally = run(written_by_one_and_read_by_another().program());
        assert_eq!(tally.deviations, 0, "{:?}", tally.examples);
    }
}

#[test]
fn without_the_order_it_would_not() {
    let mut program = written_by_one_and_read_by_another().program();
    for replay_thread in &mut program.replay_threads {
        replay_thread.waits.clear();
        replay_thread.steps.iter_mut().for_each(|step| step.waits_end = 0);
    }
    assert!(run(program).deviations > 0);
}

#[test]
fn a_process_goes_on_when_its_child_has_ended_or_written_to_its_pipe() {
    let mut told = TestTrace::new();
    let pipe = |fd, other| Call { fd, other, ..Call::new(MAIN, Op::Pipe) };
    told.call(pipe(10, 11));
    told.fork(MAIN, 200);
    let other = told.open(200, "other", MAKES);
    for _ in 0..3000 {
        told.write(200, other, 4096);
    }
    told.on(200, Op::Mkdir, "made", 0);
    told.write(200, 11, 1);
    told.read(MAIN, 10, 1, 1);
    told.on(MAIN, Op::Rmdir, "made", 0);
    let log = told.open(200, "log", MAKES);
    told.write(200, log, 1000);
    told.exit(200);
    told.call(Call { result: 200, ..Call::new(MAIN, Op::Wait) });
    let log = told.open(MAIN, "log", RDONLY);
    told.read(MAIN, log, 4096, 1000);
    let program = told.program();
    assert_eq!(program.replay_threads.len(), 2);
    let tally = run(program);
    assert_eq!(tally.deviations, 0, "{:?}", tally.examples);
}

#[test]
fn locks_are_taken_in_their_order_by_processes_that_are_threads_here() {
    let mut told = TestTrace::new();
    let lock = |thread, fd, mode: i32| {
        let (flags, mode, length) = (libc::F_SETLKW as u64, mode as u32, 10);
        let other = libc::SEEK_SET;
        Call { fd, other, flags, mode, length, offset: 0, ..Call::new(thread, Op::Lock) }
    };
    told.fork(MAIN, 200);
    let database = told.open(MAIN, "database", MAKES);
    told.fds.insert(200, 20);
    let same = told.open(200, "database", WRONLY);
    for _ in 0..50 {
        for (thread, fd) in [(MAIN, database), (200, same)] {
            told.call(lock(thread, fd, libc::F_WRLCK));
            told.write(thread, fd, 10);
            told.call(lock(thread, fd, libc::F_UNLCK));
        }
    }
    let program = told.program();
    let is_own = |act: &Act| matches!(act, Act::Lock { own: true, .. });
    assert!(!acts(&program).concat().iter().any(is_own), "two processes have locks of their own");
    let tally = run(program);
    assert_eq!((tally.deviations, tally.calls[5]), (0, 200), "{:?}", tally.examples);
}

#[test]
fn a_single_thread_waits_for_nothing() {
    let mut told = TestTrace::new();
    let log = told.open(MAIN, "log", MAKES);
    (0..10).for_each(|_| told.write(MAIN, log, 10));
    let (_kept, path) = told.file();
    let params = testing::params(&REPLAY, &[("trace", path.to_str().unwrap())]);
    let config = Config::new(&params).unwrap();
    assert_eq!((config.program.replay_threads.len(), config.program.signals), (1, 0));
}

/// Fails where a program that need not wait in memory is taken to think as slowly as one that has
/// to on a device.
#[test]
fn thinking_is_shorter_where_a_wait_of_the_recording_is_none() {
    let after_wait = Curve([(1e6, 300_000.0); 6]);
    for (waited_ns, spared_ns) in [(60_000_000, 300_000.0), (0, 0.0)] {
        let mut told = TestTrace::new();
        let fd = told.open(MAIN, "file", MAKES);
        told.write(MAIN, fd, 100);
        told.call(Call { fd, took_ns: 61_000_000, waited_ns, ..Call::new(MAIN, Op::Fsync) });
        told.pause(Duration::from_millis(3));
        told.write(MAIN, fd, 100);
        let tally = run_thinking(told.program(), Thinking { kept: 1.0, after_wait });
        let ticks = spared_ns / testing::timer().clock().tick_ns();
        assert!((tally.spared as f64 - ticks).abs() <= 2.0, "{waited_ns}: {tally:?}");
    }
}

/// Fails where a thread that waited for another one thinks for as long as it waited.
#[test]
fn waiting_for_another_thread_is_no_thinking_where_it_is_known() {
    let wait = Duration::from_millis(40);
    for is_known in [true, false] {
        let mut told = TestTrace::new();
        let mine = told.open(MAIN, "mine", MAKES);
        told.fork(MAIN, 102);
        told.fds.insert(102, 20);
        let theirs = told.open(102, "theirs", MAKES);
        let since_ns = told.now_ns;
        let took_ns = wait.as_nanos() as u64;
        told.call(Call { fd: theirs, took_ns, ..Call::new(102, Op::Fsync) });
        if is_known {
            let (at_ns, thread, by) = (told.now_ns + 100, MAIN, 102);
            told.push(Entry::Woken { at_ns, thread, by, slept_ns: at_ns - since_ns });
        }
        told.pause(Duration::from_micros(1));
        told.write(MAIN, mine, 10);
        let facts = told.program().facts;
        let shortest = Duration::from_nanos(facts.shortest.ns as u64);
        assert_eq!(shortest < wait / 2, is_known, "{facts:?}");
    }
}
