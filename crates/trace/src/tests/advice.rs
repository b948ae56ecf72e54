//! Programs that are known, planted, and those that only look like them.

use super::bill;
use crate::flags::{AT_SYMLINK_NOFOLLOW, ENOENT, O_CREAT, O_RDWR};
use crate::header::Header;
use crate::planted::{Planted, header};
use crate::{Advice, Entry, Op};

const MS: u64 = 1_000_000;

fn run_of(program: &str) -> Planted {
    Planted::with(&Header { program: program.to_owned(), ..header() }, "/srv")
}

fn synced(planted: &mut Planted, paths: &[&str], times: u64) {
    for (fd, path) in (3..).zip(paths) {
        planted.open(path, O_RDWR | O_CREAT, fd);
        for _ in 0..times {
            planted.moved(Op::Write, fd, 8192, 1000);
            planted.on(Op::Fdatasync, fd, MS);
        }
    }
}

fn told(planted: Planted) -> Vec<Advice> {
    bill(&planted.finish()).advice
}

const SEGMENTS: [&str; 2] =
    ["/pg/pg_wal/000000010000000000000001", "/pg/pg_wal/000000010000000000000002"];

/// Fails where segments are priced each by itself, or where files of such names count although
/// another program wrote them.
#[test]
fn segments_of_a_log_are_priced_as_one() {
    let mut planted = run_of("postgres");
    synced(&mut planted, &SEGMENTS, 50);
    let told = told(planted);
    let [Advice { program, path, files, calls, summed_ns, share, changes, .. }] = &told[..] else {
        panic!("{told:?}")
    };
    assert_eq!((*program, path.as_str(), *files, *calls), ("PostgreSQL", "/pg/pg_wal", 2, 100));
    assert_eq!(*summed_ns, 100 * MS);
    assert!(*share > 0.99);
    assert!(changes[0].set.starts_with("synchronous_commit"));
    let mut other = run_of("app");
    synced(&mut other, &SEGMENTS, 50);
    assert_eq!(self::told(other), []);
}

/// Fails where sessions are to wait for each other that are too few to.
#[test]
fn commits_are_gathered_where_there_are_many_sessions() {
    for (processes, is_advised) in [(8, false), (12, true)] {
        let mut planted = run_of("postgres");
        (2..=processes).for_each(|process| planted.begin(1, process, false));
        synced(&mut planted, &SEGMENTS, 50);
        let first = told(planted)[0].changes[0].set;
        // The one that loses no commit comes first.
        assert_eq!(first.starts_with("commit_delay"), is_advised, "{processes}: {first}");
    }
}

/// Fails where only the command is known that was recorded, and not what it ran.
#[test]
fn a_program_is_known_that_another_one_runs() {
    let mut planted = run_of("apt-get");
    let dpkg = planted.path("/usr/bin/dpkg");
    planted.push(Entry::Exec { at_ns: 0, thread: 1, program: Some(dpkg) });
    synced(&mut planted, &["/usr/bin/tree.dpkg-new", "/var/lib/dpkg/status-new"], 1);
    let told = told(planted);
    let [Advice { program, path, calls, .. }] = &told[..] else { panic!("{told:?}") };
    // Its database keeps its syncs with the flag, so they are no part of the price.
    assert_eq!((*program, path.as_str(), *calls), ("dpkg", "/usr/bin", 1));
}

/// Fails where calls that begin to write are taken to be syncs.
#[test]
fn sync_file_range_is_no_fsync() {
    let mut planted = run_of("dpkg");
    planted.open("/usr/bin/tree.dpkg-new", O_RDWR | O_CREAT, 3);
    for _ in 0..30 {
        planted.moved(Op::Write, 3, 4096, 1000);
        planted.on(Op::SyncRange, 3, MS);
    }
    let bill = bill(&planted.finish());
    assert_eq!((bill.advice, bill.patterns), (vec![], vec![]));
    assert_eq!(bill.top_files[0].syncs, 0);
}

/// Fails where calls of others count as those of a program that is known, on any file.
#[test]
fn calls_on_any_file_are_a_programs_own_where_it_ran_alone() {
    let run = |others: &[&str]| {
        let mut planted = run_of("sh");
        for program in ["/usr/bin/rsync"].iter().chain(others) {
            let program = Some(planted.path(program));
            planted.push(Entry::Exec { at_ns: 0, thread: 1, program });
        }
        synced(&mut planted, &["/backup/a"], 20);
        told(planted).len()
    };
    assert_eq!((run(&[]), run(&["/usr/bin/sqlite3"])), (1, 0));
}

/// Fails where headers that were found count as those that were not.
#[test]
fn headers_are_looked_for_in_folders_that_do_not_have_them() {
    let mut planted = run_of("cc1plus");
    for folder in ["a", "b", "c"] {
        planted.named(Op::Open, &format!("/usr/include/{folder}/x.h"), MS, ENOENT);
    }
    planted.open("/usr/include/x.h", 0, 3);
    let told = told(planted);
    let [Advice { calls, summed_ns, files, .. }] = &told[..] else { panic!("{told:?}") };
    assert_eq!((*calls, *summed_ns, *files), (3, 3 * MS, 3));
}

/// Fails where a setting is priced by calls that it does not save: no cache of PHP's answers stat(2),
/// none knows what is missing, and each process resolves a path once.
#[test]
fn a_script_that_is_asked_for_or_resolved_is_not_one_that_is_looked_at() {
    let run = |asked, resolved| {
        let mut planted = run_of("php8.2");
        planted.begin(1, 2, false);
        let script = planted.path("/www/page.php");
        let mut look = |times, op, flags, result| {
            for _ in 0..times {
                planted.call(1, op, MS, |call| {
                    (call.path, call.flags, call.result) = (Some(script), flags, result);
                });
            }
        };
        look(10, Op::Stat, 0, 0);
        look(10, Op::Access, 0, ENOENT);
        look(asked, Op::Access, 0, 0);
        look(resolved, Op::Stat, AT_SYMLINK_NOFOLLOW, 0);
        let told = told(planted);
        told.iter().map(|a| (a.changes[0].set, a.calls, a.summed_ns)).collect::<Vec<_>>()
    };
    assert_eq!(run(0, 2), []);
    let realpath = "realpath_cache_size = 16M with realpath_cache_ttl = 600";
    let asked = ("opcache.enable_file_override = 1", 4, 4 * MS);
    assert_eq!(run(4, 5), [asked, (realpath, 3, 3 * MS)]);
}
