//! However a run ends, nothing that it started is alive three seconds later, or it says
//! what is: where calls are refused that newer kernels have, where it may not send
//! signals, and in a PID namespace.

#![allow(clippy::unwrap_used, clippy::print_stderr, missing_docs)]

mod ignored;
pub(crate) mod trial;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::thread::{scope, sleep};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::at_once;
use trial::{LEFT_AFTER, Marked, Refused, Running, Trial};

/// The system's own, which every user may run.
const PYTHON: &str = "/usr/bin/python3";
/// A server beside which another process has left its group, session and parent, and
/// ignores requests to stop.
const STUBBORN: &str = "(setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done' &); \
                        exec /usr/bin/python3 -m http.server --bind 127.0.0.1 {port}";
/// More than any test waits for.
const ENDLESS: u64 = 100_000;
/// Calls whose refusal is tried at once.
const AT_ONCE: usize = 4;

/// Calls that older kernels lack, or that filters of containers refuse.
fn refusals() -> Vec<Refused> {
    let calls = [
        ("close_range", libc::SYS_close_range),
        ("pidfd_open", libc::SYS_pidfd_open),
        ("clone3", libc::SYS_clone3),
        ("openat2", libc::SYS_openat2),
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("prlimit64", libc::SYS_prlimit64),
    ];
    let errors = [libc::ENOSYS, libc::EPERM];
    calls.iter().flat_map(|(name, call)| errors.map(|error| (*name, *call, error))).collect()
}

/// Without threads, which the C library does not start where clone3 is forbidden rather
/// than missing, nothing is begun.
fn cannot_begin((_, call, error): Refused) -> bool {
    call == libc::SYS_clone3 && error == libc::EPERM
}

fn is_skipped(program: &str) -> bool {
    let is_missing = !Path::new(program).exists();
    if is_missing {
        eprintln!("SKIPPED: {program} is not installed");
    }
    is_missing
}

/// Ends a run that goes on for ever, in the middle of what it does.
fn interrupted(trial: Trial, signal: Signal, awaited: &str) -> Running {
    let mut running = trial.start();
    running.await_process(awaited);
    sleep(Duration::from_millis(300));
    running.signal(signal);
    let status = running.await_end();
    if signal != Signal::KILL {
        assert_eq!(status.code(), Some(130), "{}", running.said());
    }
    running.assert_gone();
    running
}

#[test]
fn a_server_is_ended_however_the_run_ends() {
    if is_skipped(PYTHON) {
        return;
    }
    // Beside each other, for they wait.
    scope(|scope| {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::KILL] {
            scope.spawn(move || {
                let mut running = Trial::new().load(ENDLESS, STUBBORN).start();
                running.await_process("http.server");
                sleep(Duration::from_millis(300));
                running.signal(signal);
                running.await_end();
                running.assert_gone();
            });
        }
    });
    // A second signal does not wait for what the first began.
    let mut running = Trial::new().load(ENDLESS, STUBBORN).start();
    running.await_process("http.server");
    running.signal(Signal::INT);
    // Longer than signals count as one.
    sleep(Duration::from_millis(700));
    running.signal(Signal::INT);
    running.await_end();
    running.assert_gone();
}

#[test]
fn a_server_is_ended_where_calls_are_refused() {
    if is_skipped(PYTHON) {
        return;
    }
    at_once(AT_ONCE, refusals(), |refused| {
        let trial = || Trial::new().refused(refused);
        if cannot_begin(refused) {
            let mut running = trial().load(20, STUBBORN).start();
            assert_eq!(running.await_end().code(), Some(1), "{}", running.said());
            let said = running.err();
            assert!(said.contains("cannot start /bin/sh: Operation not permitted"), "{said}");
            assert!(!said.contains("internal error"), "{said}");
            running.assert_gone();
            return;
        }
        scope(|scope| {
            scope.spawn(|| {
                let mut running = trial().load(20, STUBBORN).start();
                assert!(running.await_end().success(), "{refused:?}: {}", running.said());
                assert!(running.out().contains("20 of 20 connections"), "{}", running.said());
                assert_eq!(running.err(), "");
                running.assert_gone();
            });
            for signal in [Signal::TERM, Signal::KILL] {
                scope.spawn(move || {
                    let endless = trial().load(ENDLESS, STUBBORN);
                    interrupted(endless, signal, "http.server");
                });
            }
        });
    });
}

#[test]
fn a_server_is_ended_where_nothing_tells_what_is_open() {
    if is_skipped(PYTHON) || !can_unshare(&["--mount", "mount", "-t", "tmpfs", "none", "/proc"]) {
        return;
    }
    let hides = "mount -t tmpfs none /proc && exec \"$@\"";
    let starter = ["unshare", "--mount", "sh", "-c", hides, "sh"];
    let end = |connections| {
        let refused = ("close_range", libc::SYS_close_range, libc::ENOSYS);
        let server = "/usr/bin/python3 -m http.server --bind 127.0.0.1 {port}; true";
        let mut running =
            Trial::through(&starter).refused(refused).load(connections, server).start();
        running.await_process("http.server");
        if connections == ENDLESS {
            running.signal(Signal::KILL);
        }
        running.await_end();
        running.assert_gone();
    };
    scope(|scope| {
        for connections in [20, ENDLESS] {
            scope.spawn(move || end(connections));
        }
    });
}

#[test]
fn workers_are_ended_where_calls_are_refused() {
    let endless = ["--study", "log", "--set", "log.writers=2", "--budget", "10min"];
    let endless = [&endless[..], &["--strategy", "held,flock", "--threshold", "0.0001%"]].concat();
    let refusals = refusals().into_iter().filter(|refused| !cannot_begin(*refused));
    at_once(AT_ONCE, refusals, |refused| {
        scope(|scope| {
            for signal in [Signal::TERM, Signal::KILL] {
                let trial = Trial::new().refused(refused).compare(&endless);
                scope.spawn(move || interrupted(trial, signal, "__worker"));
            }
        });
    });
}

#[test]
fn a_refused_ring_is_told_and_the_other_arms_are_measured() {
    for (study, [held, uring]) in
        [("log", ["held", "uring"]), ("blocks", ["buffered", "uring-direct"])]
    {
        for error in [libc::ENOSYS, libc::EPERM] {
            let strategy = format!("{held},{uring}");
            let args = ["--study", study, "--strategy", &strategy, "--rounds", "2"];
            let args = [&args[..], &["--budget", "60s"]].concat();
            let refused = ("io_uring_setup", libc::SYS_io_uring_setup, error);
            let mut running = Trial::new().refused(refused).compare(&args).start();
            let status = running.await_end();
            let said = running.said();
            assert!(status.success() && said.contains(&format!("{study}/{uring}")), "{said}");
            let why = if error == libc::ENOSYS { "has no io_uring" } else { "refuses io_uring" };
            assert!(said.contains(why), "{said}");
            assert!(said.contains("time the other strategies"), "{said}");
            let is_measured = |line: &str| line.contains(" ns") || line.contains(" µs");
            assert!(running.out().lines().any(is_measured), "{said}");
        }
    }
}

/// A file system without it, as a tmpfs is before Linux 6.6.
#[test]
fn a_refused_o_direct_is_told_and_the_other_arms_are_measured() {
    let args = ["--study", "blocks", "--strategy", "buffered,direct", "--budget", "2s"];
    let args = [&args[..], &["--set", "blocks.access=read"]].concat();
    let direct = u64::from(libc::O_DIRECT.cast_unsigned());
    let refused = ("openat", libc::SYS_openat, libc::EINVAL);
    let mut running = Trial::new().refused_with(refused, 2, direct).compare(&args).start();
    let status = running.await_end();
    let said = running.said();
    assert!(status.success() && said.contains("blocks/direct@ram"), "{said}");
    assert!(said.contains("has no O_DIRECT") && said.contains("time the strategies"), "{said}");
    let is_measured = |line: &str| line.contains(" ns") || line.contains(" µs");
    assert!(running.out().lines().any(is_measured), "{said}");
}

/// A server of another user, which a run without the right to signal it cannot end.
const OTHERS: &str = "exec setpriv --reuid=65534 --regid=65534 --clear-groups \
                      /usr/bin/python3 -m http.server --bind 127.0.0.1 {port}";

/// Runs as root without `CAP_KILL`; nothing where that cannot be had.
fn without_kill() -> Option<Trial> {
    let starter = ["setpriv", "--bounding-set=-kill", "--inh-caps=-kill", "--"];
    let can = Command::new(starter[0]).args(&starter[1..]).arg("true").status();
    if !rustix::process::geteuid().is_root() || !can.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: only root can give up the right to end processes of others");
        return None;
    }
    Some(Trial::through(&starter))
}

/// What is said of the one process that is left, which is ended here.
fn assert_told_and_end(running: &Running, said: &str) {
    let left = running.alive();
    left.iter().for_each(Marked::kill);
    assert_eq!(left.len(), 1, "{left:?}: {said}");
    let pid = left[0].pid;
    assert!(said.contains(&format!("process {pid} ({PYTHON} -m http.server")), "{said}");
    assert!(said.contains(") of UID 65534 is still running: UID 0 may not kill it"), "{said}");
    assert!(said.contains(&format!("try `sudo kill -9 {pid}`")), "{said}");
}

#[test]
fn a_server_that_may_not_be_ended_is_told_after_the_result() {
    if is_skipped(PYTHON) {
        return;
    }
    let Some(trial) = without_kill() else { return };
    let mut running = trial.load(20, OTHERS).start();
    let server = running.await_process("http.server");
    // The result is there before the seconds in which ending it is tried.
    while !running.out().contains("20 of 20 connections") {
        assert!(running.child.try_wait().unwrap().is_none(), "{}", running.said());
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(500));
    assert!(running.child.try_wait().unwrap().is_none(), "the result came last");
    assert!(Path::new(&format!("/proc/{}", server.pid)).exists());
    assert!(running.await_end().success());
    assert_told_and_end(&running, &running.err());
}

#[test]
fn a_server_that_may_not_be_ended_is_told_of_by_its_keeper_when_the_run_was_killed() {
    if is_skipped(PYTHON) {
        return;
    }
    let Some(trial) = without_kill() else { return };
    let mut running = trial.load(ENDLESS, OTHERS).start();
    let server = running.await_process("http.server");
    // Until it is another user's, its keeper may end it.
    while fs::metadata(format!("/proc/{}", server.pid)).unwrap().uid() == 0 {
        assert!(running.child.try_wait().unwrap().is_none(), "{}", running.said());
        sleep(Duration::from_millis(5));
    }
    running.signal(Signal::KILL);
    running.await_end();
    sleep(LEFT_AFTER);
    assert_told_and_end(&running, &running.err());
}

#[test]
fn an_arm_whose_server_may_not_be_ended_has_that_in_its_record_and_starts_no_other() {
    if is_skipped(PYTHON) {
        return;
    }
    let Some(trial) = without_kill() else { return };
    let command = format!("serve.command={OTHERS}");
    let json = trial.folder.path().join("result.json");
    let json = json.to_str().unwrap().to_owned();
    let study = ["--study", "serve", "--strategy", "command", "--set", &command];
    let more = ["--budget", "5s", "--json", &json];
    let mut running = trial.compare(&[&study[..], &more[..]].concat()).start();
    assert_eq!(running.await_end().code(), Some(1), "{}", running.said());
    let result: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let why = result["failures"][0]["why"].as_str().unwrap().to_owned();
    assert!(why.contains("it could not be ended: process"), "{why}");
    assert_told_and_end(&running, &why);
}

/// Whether a command can be run in namespaces of its own.
fn can_unshare(args: &[&str]) -> bool {
    let status = Command::new("unshare").args(args).status();
    let can = status.is_ok_and(|status| status.success());
    if !can {
        eprintln!("SKIPPED: this fails: unshare {}", args.join(" "));
    }
    can
}

#[test]
fn a_server_is_ended_in_a_pid_namespace_that_lives_on() {
    if is_skipped(PYTHON) || !can_unshare(&["--pid", "--fork", "--mount-proc", "true"]) {
        return;
    }
    // The first process of a namespace takes all others with it, and so must not be ours.
    let lives_on = "\"$@\"; code=$?; env -u IOTOLL_TEST_MARK sleep 4; exit $code";
    // Without a `/proc` of its own it cannot be seen that the server is the one started.
    let ways = [(&["--mount-proc"][..], None), (&["--mount-proc"], Some(Signal::KILL))];
    for (mount, signal) in ways.into_iter().chain([(&[][..], Some(Signal::KILL))]) {
        let shell = ["env", "-u", "IOTOLL_TEST_MARK", "unshare", "--pid", "--fork"];
        let mark = |trial: &Trial| format!("IOTOLL_TEST_MARK={}", trial.mark);
        let plain = Trial::new();
        let mark = mark(&plain);
        let inner = ["sh", "-c", lives_on, "sh", "env", &mark];
        let starter = [&shell[..], mount, &inner[..]].concat();
        let mut trial = Trial::through(&starter);
        trial.mark.clone_from(&plain.mark);
        trial.has_session = false;
        let connections = if signal.is_some() { ENDLESS } else { 20 };
        let mut running = trial.load(connections, STUBBORN).start();
        running.await_process("trap");
        running.await_process("http.server");
        if signal.is_some() {
            running.alive().iter().filter(|process| process.is_ours()).for_each(Marked::kill);
        }
        while running.alive().iter().any(Marked::is_ours) {
            sleep(Duration::from_millis(20));
        }
        running.assert_gone();
        assert!(running.child.try_wait().unwrap().is_none(), "the namespace has ended");
        running.await_end();
    }
}
