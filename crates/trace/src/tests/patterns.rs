//! Each pattern planted, and what is like it and is none.

use super::anew::replaced;
use super::bill;
use crate::flags::{
    ENOENT, F_SETLKW, F_UNLCK, O_APPEND, O_CREAT, O_DSYNC, O_RDWR, O_TMPFILE, O_WRONLY, RWF_SYNCS,
};
use crate::planted::{Planted, header};
use crate::{Database, Header, Journal, Op, Pattern, PatternKind};

const HOME: &str = "/home/eva/orders";
pub(super) const US: u64 = 1000;
const MS: u64 = 1_000_000;
pub(super) const LOG: u64 = O_WRONLY | O_APPEND | O_CREAT;

pub(super) fn planted() -> Planted {
    Planted::new(HOME)
}

pub(super) fn found(planted: Planted) -> Vec<Pattern> {
    bill(&planted.finish()).patterns
}

/// A trace with each of the patterns.
pub(super) fn all() -> Vec<Vec<u8>> {
    let mut all = vec![
        reopened(300, false, 1),
        reopened(300, true, 1),
        synced(100, 1),
        replaced(300, 5, false),
        small(2000, 70),
        read_again(30, false),
        looks(2000),
        locks(100, 200 * US),
    ];
    for journal in
        [Journal::Delete, Journal::Truncate, Journal::Persist, Journal::Wal, Journal::None]
    {
        all.push(sqlite(journal, 50, 4));
    }
    all.into_iter().map(Planted::finish).collect()
}

pub(super) fn reopened(times: u64, sync: bool, records: u64) -> Planted {
    let mut planted = planted();
    for _ in 0..times {
        planted.open("logs/app.log", LOG, 3);
        for _ in 0..records {
            planted.moved(Op::Write, 3, 137, US);
        }
        if sync {
            planted.on(Op::Fdatasync, 3, 50 * US);
        }
        planted.on(Op::Close, 3, US);
        planted.think(100 * US);
    }
    planted
}

fn synced(syncs: u64, writes_between: u64) -> Planted {
    let mut planted = planted();
    planted.open("journal", O_RDWR | O_CREAT, 3);
    for _ in 0..syncs {
        for _ in 0..writes_between {
            planted.moved(Op::Write, 3, 4096, 2 * US);
        }
        planted.on(Op::Fsync, 3, MS);
    }
    planted
}

#[test]
fn a_file_that_is_forced_to_the_device_after_each_write() {
    let patterns = found(synced(100, 1));
    let [Pattern { what: PatternKind::SyncedEach { syncs, record_bytes, reopened, .. }, .. }] =
        &patterns[..]
    else {
        panic!("{patterns:?}")
    };
    assert_eq!((*syncs, *record_bytes, *reopened), (100, 4096, false));
    assert_eq!(found(synced(100, 10)), []);
    assert_eq!(found(synced(10, 1)), []);
}

/// Fails where a program that opens with `O_DSYNC`, or writes with `RWF_DSYNC`, is said to sync nothing.
#[test]
fn writes_that_are_on_the_device_when_they_return_are_syncs() {
    for (open_flags, write_flags, syncs) in [(O_DSYNC, 0, 100), (0, RWF_SYNCS, 100), (0, 0, 0)] {
        let mut planted = planted();
        planted.open("journal", O_RDWR | O_CREAT | open_flags, 3);
        for _ in 0..100 {
            planted.call(1, Op::Write, MS, |call| {
                (call.fd, call.length, call.result, call.flags) = (3, 4096, 4096, write_flags);
            });
        }
        let forced = found(planted).into_iter().find_map(|pattern| match pattern.what {
            PatternKind::SyncedEach { syncs, .. } => Some((syncs, pattern.summed_ns)),
            _ => None,
        });
        assert_eq!(forced, (syncs > 0).then_some((syncs, 100 * MS)));
    }
}

/// Fails where syncs of files that then replace others are to be gathered, which would leave empty ones.
#[test]
fn syncs_of_whole_files_are_told_apart() {
    for (path_of, renames, expected) in [
        (Box::new(|_| "state.tmp".to_owned()) as Box<dyn Fn(u64) -> String>, true, true),
        (Box::new(|number| format!("d/f{number}")), false, true),
        (Box::new(|_| "state".to_owned()), false, false),
    ] {
        let mut planted = planted();
        for number in 0..100 {
            let path = path_of(number);
            planted.open(&path, O_WRONLY | O_CREAT, 3);
            planted.moved(Op::Write, 3, 4096, 2 * US);
            planted.on(Op::Fsync, 3, MS);
            planted.on(Op::Close, 3, US);
            if renames {
                planted.named(Op::Rename, &path, US, 0);
            }
        }
        let patterns = found(planted);
        let told = patterns.iter().find_map(|pattern| match &pattern.what {
            PatternKind::SyncedEach { whole_files, .. } => Some(*whole_files),
            _ => None,
        });
        assert_eq!(told, Some(expected), "{patterns:?}");
    }
}

/// Fails where files without names, each of them another, are taken for one that is reopened.
#[test]
fn a_file_without_a_name_is_no_file_that_is_opened_again() {
    let mut planted = planted();
    for _ in 0..100 {
        planted.open(".", O_RDWR | O_TMPFILE, 3);
        planted.moved(Op::Write, 3, 137, US);
        planted.on(Op::Close, 3, 10 * US);
    }
    assert_eq!(found(planted), []);
    let mut synced = self::planted();
    for _ in 0..100 {
        synced.open(".", O_RDWR | O_TMPFILE, 3);
        synced.moved(Op::Write, 3, 137, US);
        synced.on(Op::Fsync, 3, MS);
        synced.on(Op::Close, 3, US);
    }
    let [Pattern { what: PatternKind::SyncedEach { path, whole_files: true, .. }, .. }] =
        &found(synced)[..]
    else {
        panic!("each is another file")
    };
    assert_eq!(path, "/home/eva/orders/#*");
}

fn small(writes: u64, bytes: u64) -> Planted {
    let mut planted = planted();
    planted.open("out.csv", O_WRONLY | O_CREAT, 3);
    for _ in 0..writes {
        planted.moved(Op::Write, 3, bytes, 800);
        planted.think(2 * US);
    }
    planted
}

#[test]
fn a_file_that_is_written_a_few_bytes_at_a_time() {
    let patterns = found(small(2000, 70));
    let [Pattern { what: PatternKind::SmallWrites { writes, write_bytes, .. }, .. }] =
        &patterns[..]
    else {
        panic!("{patterns:?}")
    };
    assert_eq!((*writes, *write_bytes), (2000, 70));
    assert_eq!(found(small(2000, 4096)), []);
    assert_eq!(found(small(500, 70)), []);
    // Here and there in a file, they cannot be gathered.
    let mut anywhere = planted();
    anywhere.open("table", O_RDWR, 3);
    for number in 0..2000 {
        anywhere.call(1, Op::Write, 800, |call| {
            (call.fd, call.length, call.result) = (3, 70, 70);
            call.offset = i64::from(number * 7919 % 2000) * 100;
        });
    }
    assert_eq!(found(anywhere), []);
}

fn read_again(times: u64, changes: bool) -> Planted {
    let mut planted = planted();
    for _ in 0..times {
        for (name, bytes) in [("conf/a.json", 2000), ("conf/b.json", 3000)] {
            planted.open(name, 0, 3);
            planted.moved(Op::Read, 3, bytes, 3 * US);
            planted.moved(Op::Read, 3, 0, 300);
            planted.on(Op::Close, 3, 300);
            if changes {
                planted.open(name, LOG, 3);
                planted.moved(Op::Write, 3, 1, US);
                planted.moved(Op::Write, 3, 1, US);
                planted.moved(Op::Write, 3, 1, US);
                planted.on(Op::Close, 3, 300);
            }
        }
        planted.think(100 * US);
    }
    planted
}

#[test]
fn files_that_are_read_again_and_have_not_changed() {
    let patterns = found(read_again(30, false));
    let [Pattern { what: PatternKind::ReadAgain { path, files, times, total_bytes, .. }, .. }] =
        &patterns[..]
    else {
        panic!("{patterns:?}")
    };
    assert_eq!((*files, *times, *total_bytes), (2, 58, 5000));
    assert_eq!(path, "/home/eva/orders/conf");
    assert_eq!(found(read_again(30, true)), []);
    assert_eq!(found(read_again(5, false)), []);
}

/// Fails where what many programs read once each is said to be read again, which none could have kept.
#[test]
fn what_each_program_reads_once_is_not_read_again() {
    let mut planted = planted();
    for child in 2..52 {
        planted.begin(1, child, false);
        let path = Some(planted.path("/usr/lib/locale/C.utf8/LC_CTYPE"));
        planted.call(child, Op::Open, 20 * US, |call| (call.path, call.result) = (path, 3));
        planted.call(child, Op::Read, 20 * US, |call| {
            (call.fd, call.length, call.result) = (3, 5000, 5000);
        });
        planted.call(child, Op::Close, US, |call| call.fd = 3);
    }
    assert_eq!(found(planted), []);
}

/// Fails where each program's libraries are taken for its data.
#[test]
fn libraries_that_each_program_maps_are_not_read_again() {
    let mut planted = planted();
    for _ in 0..50 {
        planted.open("/usr/lib/libeva.so", 0, 3);
        planted.moved(Op::Read, 3, 832, 20 * US);
        planted.call(1, Op::Map, 20 * US, |call| {
            (call.fd, call.length, call.flags) = (3, 100_000, 5);
        });
        planted.on(Op::Close, 3, US);
    }
    assert_eq!(found(planted), []);
}

fn looks(looks: u64) -> Planted {
    let mut planted = planted();
    for number in 0..looks {
        let (path, result) =
            if number % 4 == 0 { ("themes/missing", ENOENT) } else { ("themes/a.css", 0) };
        planted.named(Op::Stat, path, US, result);
        planted.think(10 * US);
    }
    planted
}

#[test]
fn names_that_are_looked_up_again_and_again() {
    let patterns = found(looks(2000));
    let [Pattern { what: PatternKind::Looks { path, looks: count, again, missing, .. }, .. }] =
        &patterns[..]
    else {
        panic!("{patterns:?}")
    };
    assert_eq!((path.as_str(), *count, *missing), ("/home/eva/orders/themes", 2000, 500));
    assert_eq!(*again, 1998);
    assert_eq!(found(looks(900)), []);
}

/// Fails where a comparison is proposed that has only one answer: names in memory are found as quickly
/// wherever their files are.
#[test]
fn names_that_are_in_memory_have_no_command() {
    let has_command = |sees_waiting, waits| {
        let header = Header { sees_waiting, ..header() };
        let mut planted = Planted::with(&header, HOME);
        let path = Some(planted.path("themes/a.css"));
        for _ in 0..2000 {
            planted.call(1, Op::Stat, US, |call| {
                (call.path, call.waited_ns) = (path, if waits { US } else { 0 });
            });
            planted.think(10 * US);
        }
        let patterns = found(planted);
        let [Pattern { what: PatternKind::Looks { .. }, command, .. }] = &patterns[..] else {
            panic!("{patterns:?}")
        };
        !command.is_empty()
    };
    assert!(has_command(false, false), "nobody knows");
    assert!(!has_command(true, false));
    assert!(has_command(true, true), "a device is asked");
}

/// Fails where what is not there at all counts as a search, or the other way round, and where a
/// link that is none counts as missing.
#[test]
fn names_of_a_search_path_are_told_apart() {
    let mut planted = looks(1000);
    for _ in 0..10 {
        planted.named(Op::Open, "lib/local/a.css", US, ENOENT);
        planted.named(Op::Readlink, "lib", US, -22);
    }
    let patterns = found(planted);
    let [Pattern { what: PatternKind::Looks { missing, searched, .. }, .. }] = &patterns[..] else {
        panic!("{patterns:?}")
    };
    assert_eq!((*missing, *searched), (250, 10));
}

/// Fails where each segment of a log is a pattern by itself.
#[test]
fn segments_of_a_log_are_one_pattern() {
    let mut planted = planted();
    for (segment, fd) in (0..4).zip(3..) {
        planted.open(&format!("wal/00000001000000000000000{segment}"), O_RDWR | O_CREAT, fd);
        for _ in 0..10 {
            planted.moved(Op::Write, fd, 8192, 2 * US);
            planted.on(Op::Fdatasync, fd, MS);
        }
    }
    let patterns = found(planted);
    let [Pattern { what: PatternKind::SyncedEach { path, syncs, .. }, .. }] = &patterns[..] else {
        panic!("{patterns:?}")
    };
    assert_eq!((path.as_str(), *syncs), ("/home/eva/orders/wal/*", 40));
}

/// Fails where an open file that is asked for its size counts as a name that is looked up.
#[test]
fn open_files_that_are_asked_for_their_size_are_no_names() {
    let mut planted = looks(900);
    planted.open("themes/a.css", 0, 3);
    (0..20_000).for_each(|_| planted.on(Op::Stat, 3, US));
    assert_eq!(found(planted), []);
}

fn locks(times: u64, waited_ns: u64) -> Planted {
    let mut planted = planted();
    planted.open("logs/app.log", LOG, 3);
    planted.begin(1, 2, true);
    for number in 0..times {
        let thread = (number % 2) as u32 + 1;
        planted.call(thread, Op::Flock, waited_ns, |call| (call.fd, call.flags) = (3, 2));
        planted.call(thread, Op::Write, US, |call| {
            (call.fd, call.length, call.result) = (3, 137, 137);
        });
        planted.call(thread, Op::Flock, 300, |call| (call.fd, call.flags) = (3, 8));
        planted.think(300 * US);
    }
    planted
}

#[test]
fn a_lock_that_is_waited_for() {
    let patterns = found(locks(100, 200 * US));
    let [
        Pattern {
            what: PatternKind::Locks { locks: count, threads, longest_ns, record_bytes, .. },
            ..
        },
    ] = &patterns[..]
    else {
        panic!("{patterns:?}")
    };
    assert_eq!((*count, *threads, *longest_ns), (100, 2, 200 * US));
    assert_eq!(*record_bytes, Some(137));
    assert_eq!(found(locks(100, 600)), []);
}

/// Transactions as SQLite does them, each of so many pages.
fn sqlite(journal: Journal, transactions: u64, pages: u64) -> Planted {
    let mut planted = planted();
    planted.open("orders.db", O_RDWR | O_CREAT, 3);
    if journal == Journal::Wal {
        planted.open("orders.db-wal", O_RDWR | O_CREAT, 4);
        planted.open("orders.db-shm", O_RDWR | O_CREAT, 5);
    }
    for number in 0..transactions {
        let (locked, at) = if journal == Journal::Wal { (5, 120) } else { (3, 0x4000_0001) };
        for kind in [1, F_UNLCK] {
            if kind == F_UNLCK {
                transaction(&mut planted, journal, number, pages);
            }
            planted.call(1, Op::Lock, 500, |call| {
                (call.fd, call.flags, call.mode) = (locked, F_SETLKW, kind);
                (call.offset, call.length) = (at, 1);
            });
        }
        planted.think(200 * US);
    }
    planted
}

fn write_at(planted: &mut Planted, fd: i32, at: u64, bytes: u64) {
    planted.call(1, Op::Write, 3 * US, |call| {
        (call.fd, call.offset, call.length) = (fd, at as i64, bytes);
        call.result = bytes as i64;
    });
}

fn transaction(planted: &mut Planted, journal: Journal, number: u64, pages: u64) {
    let beside = journal != Journal::None && journal != Journal::Wal;
    let kept = beside && journal != Journal::Delete;
    if beside && (!kept || number == 0) {
        planted.open("orders.db-journal", O_RDWR | O_CREAT, 4);
    }
    for page in 0..pages {
        match journal {
            Journal::Wal => write_at(planted, 4, (number * pages + page) * 4120, 4120),
            Journal::None => write_at(planted, 3, page * 4096, 4096),
            _ => {
                write_at(planted, 4, 512 + page * 4104, 4104);
                write_at(planted, 3, page * 4096, 4096);
            }
        }
    }
    if journal == Journal::Wal {
        planted.on(Op::Fdatasync, 4, 200 * US);
    } else if beside {
        for fd in [4, 4, 3] {
            planted.on(Op::Fdatasync, fd, 200 * US);
        }
    }
    match journal {
        Journal::Delete => {
            planted.on(Op::Close, 4, US);
            planted.named(Op::Unlink, "orders.db-journal", 5 * US, 0);
        }
        Journal::Truncate => planted.on(Op::Truncate, 4, 5 * US),
        Journal::Persist => write_at(planted, 4, 0, 28),
        Journal::Wal | Journal::None => {}
    }
}

/// Fails where a journal mode is taken for another, or other patterns speak of a database, too.
#[test]
fn a_database_with_its_journal_and_its_transactions() {
    let expected = [
        (Journal::Delete, 8, 3),
        (Journal::Truncate, 8, 3),
        (Journal::Persist, 9, 3),
        (Journal::Wal, 4, 1),
        (Journal::None, 4, 0),
    ];
    for (mode, writes, syncs) in expected {
        let patterns = found(sqlite(mode, 50, 4));
        let [Pattern { what, .. }] = &patterns[..] else { panic!("{patterns:?}") };
        let PatternKind::Sqlite(database) = what else { panic!("{what:?}") };
        let Database { path, journal, transactions, .. } = database;
        assert_eq!((path.as_str(), *journal), ("/home/eva/orders/orders.db", mode));
        assert_eq!(*transactions, 50);
        let each = [database.writes_per_transaction, database.syncs_per_transaction];
        assert_eq!(each.map(|number| number as u64), [writes, syncs]);
    }
    assert_eq!(found(sqlite(Journal::Delete, 10, 4)), []);
    // A file beside another that is merely called so.
    let mut planted = planted();
    for _ in 0..100 {
        planted.open("orders-journal", LOG, 3);
        planted.moved(Op::Write, 3, 137, US);
        planted.on(Op::Close, 3, 10 * US);
    }
    assert!(found(planted).iter().all(|pattern| !matches!(pattern.what, PatternKind::Sqlite(_))));
}
