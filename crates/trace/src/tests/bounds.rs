//! What no move of files can beat, and how long a program was busy.

#![allow(clippy::unwrap_used)]

use super::bill;
use crate::call::Call;
use crate::entry::{Entry, Unseen};
use crate::flags::{EAGAIN, EBADF, F_UNLCK};
use crate::header::{Header, Sees};
use crate::op::Op;
use crate::planted::{Planted, header};
use crate::{Kind, Missing, Unit};

const MS: u64 = 1_000_000;

/// Fails where page faults and what a ring does are no time with files, or no file's.
#[test]
fn faults_and_rings_are_time_with_their_files() {
    let mut planted = Planted::new("/srv");
    planted.open("data/db", 2, 3);
    let path = Some(planted.path("/srv/data/map"));
    planted.call(1, Op::Fault, 5 * MS, |call| (call.path, call.length) = (path, 4096));
    planted.call(1, Op::RingSync, 3 * MS, |call| call.fd = 3);
    planted.call(1, Op::RingWrite, MS, |call| (call.path, call.result) = (path, 100));
    planted.think(MS);
    let bill = bill(&planted.finish());
    let of = |kind| bill.kinds.iter().find(|cost| cost.kind == kind).unwrap().cost;
    assert_eq!(of(Kind::Fault).once_ns.high, 5 * MS);
    assert_eq!(of(Kind::Sync).once_ns.high, 3 * MS);
    assert_eq!((of(Kind::Write).once_ns.high, of(Kind::Write).written_bytes), (MS, 100));
    assert_eq!(bill.calls, 1, "the others are no calls");
    let file = |path: &str| bill.top_files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file("/srv/data/map").summed_ns, 6 * MS);
    assert!(bill.bound.complete && bill.bound.share > 0.89, "{:?}", bill.bound);
}

/// Fails where what other calls waited for is taken for what a ring waited for.
#[test]
fn nobody_knows_what_a_ring_waits_for() {
    let mostly_waits = |ring_ms| {
        let header = Header { sees_waiting: true, ..header() };
        let mut planted = Planted::with(&header, "/srv");
        planted.open("db", 2, 3);
        planted.call(1, Op::Read, 2 * MS, |call| (call.fd, call.waited_ns) = (3, 2 * MS));
        planted.call(1, Op::RingRead, ring_ms * MS, |call| call.fd = 3);
        let bill = bill(&planted.finish());
        let reads = bill.kinds.iter().find(|cost| cost.kind == Kind::Read).unwrap().cost;
        (reads.mostly_waits(), (reads.undivided() * 100.0).round())
    };
    assert_eq!(mostly_waits(0), (Some(true), 0.0));
    assert_eq!(mostly_waits(1), (Some(true), 33.0));
    assert_eq!(mostly_waits(8), (None, 80.0));
}

/// Fails where sleep between two tries for a lock is taken for time that no file can shorten; one try
/// is none.
#[test]
fn a_lock_that_is_asked_for_again_leaves_the_bound_open() {
    let missing = |tries: u32| {
        let mut planted = Planted::new("/srv");
        planted.open("db", 2, 3);
        for _ in 0..tries {
            planted.call(1, Op::Lock, MS, |call| (call.fd, call.result) = (3, EAGAIN));
            planted.call(1, Op::Lock, 0, |call| (call.fd, call.mode) = (3, F_UNLCK));
            planted.think(5 * MS);
        }
        // As a program does that closes all that may be open.
        planted.call(1, Op::Close, MS, |call| (call.fd, call.result) = (99, EBADF));
        bill(&planted.finish()).bound.missing
    };
    assert_eq!(missing(1), []);
    assert_eq!(missing(2), [Missing::Locks]);
}

/// Fails where a bound has only what was seen of page faults.
#[test]
fn a_fault_may_take_longer_than_was_seen() {
    let mut planted = Planted::new("/srv");
    let path = Some(planted.path("/srv/map"));
    for _ in 0..100 {
        planted.call(1, Op::Fault, 1_000, |call| call.path = path);
        planted.think(99_000);
    }
    let bill = bill(&planted.finish());
    assert_eq!(bill.files.once_ns.high, 100_000);
    assert!((0.049..0.051).contains(&bill.bound.share), "{:?}", bill.bound);
}

/// Fails where a pipe that is spliced into a file is no time with that file.
#[test]
fn a_splice_into_a_file_writes_to_it() {
    let mut planted = Planted::new("/srv");
    planted.open("out", 1, 3);
    planted.call(1, Op::Pipe, 1_000, |call| (call.fd, call.other) = (4, 5));
    planted.call(1, Op::Splice, MS, |call: &mut Call| {
        (call.fd, call.other, call.result) = (4, 3, 500);
    });
    let bill = bill(&planted.finish());
    let write = bill.kinds.iter().find(|cost| cost.kind == Kind::Write).unwrap();
    assert_eq!((write.cost.once_ns.high, write.cost.written_bytes), (MS, 500));
}

/// Fails where what is copied from file to file is not written to the second one, or where what is sent
/// to a socket is written to a file.
#[test]
fn a_copy_reads_from_one_file_and_writes_to_the_other() {
    let mut planted = Planted::new("/srv");
    planted.open("in", 0, 3);
    planted.open("out", 1, 4);
    planted.call(1, Op::Socket, 1_000, |call| call.result = 5);
    for (op, other) in [(Op::CopyRange, 4), (Op::Sendfile, 4), (Op::Sendfile, 5)] {
        planted.call(1, op, MS, |call: &mut Call| {
            (call.fd, call.other, call.result) = (3, other, 500);
        });
    }
    let bill = bill(&planted.finish());
    let of = |path: &str| {
        let file = bill.top_files.iter().find(|file| file.path == path).unwrap();
        (file.read_bytes, file.written_bytes)
    };
    assert_eq!((of("/srv/in"), of("/srv/out")), ((1500, 0), (0, 1000)));
    assert_eq!((bill.files.read_bytes, bill.files.written_bytes), (1500, 1000));
}

#[test]
fn a_bound_says_what_it_does_not_have() {
    let told = |sees: Sees, unseen: Option<Unseen>| {
        let mut planted = Planted::with(&Header { sees, ..header() }, "/srv");
        planted.named(Op::Stat, "a", MS, 0);
        if let Some(kind) = unseen {
            planted.push(Entry::Unseen { kind, count: 1 });
        }
        bill(&planted.finish()).bound
    };
    let all = Sees { faults: true, rings: true, idle: true };
    assert!(told(all, None).complete);
    for (sees, unseen, missing) in [
        (Sees { faults: false, ..all }, None, Missing::MappedPages),
        (Sees { rings: false, ..all }, Some(Unseen::IoUring), Missing::IoUring),
        (all, Some(Unseen::Programs), Missing::Programs),
        (all, Some(Unseen::Calls), Missing::Calls),
    ] {
        let bound = told(sees, unseen);
        assert_eq!((bound.complete, bound.missing), (false, vec![missing]));
    }
    // A program that uses no ring has nothing there to be seen.
    assert!(told(Sees { rings: false, ..all }, None).complete);
}

/// Fails where time that a file call was under way counts as idle.
#[test]
fn a_program_is_busy_where_it_runs_or_is_in_a_file_call() {
    let sees = Sees { idle: true, ..header().sees };
    let mut planted = Planted::with(&Header { sees, ..header() }, "/srv");
    planted.open("a", 2, 3);
    let began_ns = planted.now_ns;
    planted.on(Op::Fsync, 3, 10 * MS);
    planted.push(Entry::Idle { at_ns: began_ns + MS, took_ns: 29 * MS });
    planted.now_ns = began_ns + 40 * MS;
    let bill = bill(&planted.finish());
    assert_eq!(bill.busy_ns.high, began_ns + 20 * MS);
    assert!(bill.files.busy_share.high > 0.49 && bill.files.share.high < 0.26);
}

/// Fails where a program is not allowed to compute faster where it does not wait.
#[test]
fn a_bound_has_a_margin_for_warm_caches() {
    let told = |waits: u64| {
        let mut planted = Planted::new("/srv");
        planted.open("a", 2, 3);
        for _ in 0..waits {
            planted.on(Op::Fsync, 3, 100 * MS / waits);
            planted.think(100 * MS / waits);
        }
        bill(&planted.finish()).bound.share
    };
    assert!((told(10) - 0.504).abs() < 0.001, "{}", told(10));
    // No more than half of what is computed.
    assert!((told(2_000) - 0.75).abs() < 0.01, "{}", told(2_000));
}

/// Fails where the requests are counted of a connection that the program made itself.
#[test]
fn requests_are_what_was_read_and_answered_on_accepted_connections() {
    let mut planted = Planted::new("/srv");
    planted.open("log", 1, 3);
    planted.call(1, Op::Socket, 1_000, |call| (call.fd, call.result) = (9, 4));
    planted.call(1, Op::Socket, 1_000, |call| call.result = 5);
    let path = planted.path("socket:[7] accepted");
    planted.push(Entry::Inherited { process: 1, fd: 6, path, flags: 2, offset: 0 });
    for _ in 0..20 {
        for fd in [4, 5, 6] {
            planted.moved(Op::Read, fd, 10, 1_000);
            planted.on(Op::Fsync, 3, MS);
            planted.moved(Op::Write, fd, 10, 1_000);
            planted.moved(Op::Write, fd, 10, 1_000);
        }
    }
    let unit = bill(&planted.finish()).unit.unwrap();
    assert_eq!((unit.unit, unit.count), (Unit::Request, 40));
    assert_eq!(unit.files_ns / 1_000, 1_500);
}

/// Fails where a path within a changed root is taken for one of the machine.
#[test]
fn paths_after_chroot_are_those_of_the_machine() {
    let mut planted = Planted::new("/srv");
    planted.named(Op::Chroot, "jail", 1_000, 0);
    planted.named(Op::Chdir, "/", 1_000, 0);
    planted.named(Op::Stat, "/etc/a", MS, 0);
    planted.named(Op::Stat, "b", MS, 0);
    let bill = bill(&planted.finish());
    let mut paths: Vec<_> = bill.top_files.iter().map(|file| file.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(&paths[paths.len() - 2..], ["/srv/jail/b", "/srv/jail/etc/a"], "{paths:?}");
}
