//! Work that a program could leave out, and parts that add up.

use super::bill;
use crate::flags::{O_CREAT, O_EXCL, O_RDWR};
use crate::planted::{Planted, header};
use crate::{
    Bill, Call, Entry, FileFacts, FileKind, Header, Needless, NeedlessKind, Op, OverheadNs, Wait,
    WaitedFor,
};

const MS: u64 = 1_000_000;

fn of(bill: &Bill, kind: NeedlessKind) -> Option<&Needless> {
    bill.needless.iter().find(|one| one.kind == kind)
}

/// Makes, writes and removes three files in a folder that is made and removed as well.
fn scratch(planted: &mut Planted, kept: bool) {
    planted.named(Op::Mkdir, "build/tmp1", MS, 0);
    for file in ["a", "b", "c"] {
        let path = format!("build/tmp1/{file}");
        planted.open(&path, O_RDWR | O_CREAT | O_EXCL, 3);
        planted.moved(Op::Write, 3, 1000, 10 * MS);
        planted.on(Op::Close, 3, MS);
        if !kept {
            planted.named(Op::Unlink, &path, MS, 0);
        }
    }
    planted.named(Op::Rmdir, "build/tmp1", MS, 0);
}

/// Fails where files that stay are taken for scratch, or where a folder is named that is gone the next
/// time.
#[test]
fn files_that_are_made_and_removed_are_scratch() {
    let mut planted = Planted::new("/srv");
    scratch(&mut planted, false);
    planted.think(900 * MS);
    let found = bill(&planted.finish());
    let one = of(&found, NeedlessKind::Scratch).unwrap();
    assert_eq!((&*one.folder, one.times, one.bytes, one.alone), ("/srv/build", 3, 3000, true));
    assert_eq!(one.summed_ns / MS, 3 * (10 + 1 + 1));
    assert_eq!(of(&found, NeedlessKind::SyncedThenRemoved), None);

    let mut planted = Planted::new("/srv");
    scratch(&mut planted, false);
    planted.open("build/kept", O_RDWR, 3);
    let one = bill(&planted.finish()).needless.swap_remove(0);
    assert_eq!((one.kind, one.alone), (NeedlessKind::Scratch, false));

    let mut planted = Planted::new("/srv");
    scratch(&mut planted, true);
    assert_eq!(bill(&planted.finish()).needless, []);
}

/// Nothing is found at a path any more.
fn missing(planted: &mut Planted, path: &str) {
    let (at_ns, path) = (planted.now_ns, planted.path(path));
    planted.push(Entry::File(FileFacts {
        at_ns,
        path,
        kind: FileKind::Missing,
        bytes: 0,
        device: 0,
        inode: 0,
        mode: 0,
        sample_bytes: 0,
        compressed_bytes: 0,
        target: None,
    }));
}

/// Fails where a file that is used up, as an input of gzip's is, is taken for one that was made: who
/// looks at its path finds nothing either.
#[test]
fn files_that_were_there_and_are_removed_are_no_scratch() {
    let flags = [0, O_RDWR, O_RDWR | O_CREAT];
    for (flags, reads) in flags.into_iter().flat_map(|flags| [(flags, true), (flags, false)]) {
        let mut planted = Planted::new("/srv");
        for file in ["in/a", "in/b", "in/c"] {
            planted.open(file, flags, 3);
            missing(&mut planted, &format!("/srv/{file}"));
            planted.moved(if reads { Op::Read } else { Op::Write }, 3, 1000, 10 * MS);
            planted.on(Op::Close, 3, MS);
            planted.named(Op::Unlink, file, MS, 0);
        }
        let found = bill(&planted.finish());
        let is_made = flags & O_CREAT > 0 && !reads;
        assert_eq!(of(&found, NeedlessKind::Scratch).is_some(), is_made, "{flags:o} {reads}");
    }
}

/// Fails where syncs for nothing are not seen, or where the journal that a database is rolled back by
/// after a crash is called scratch, or its syncs needless.
#[test]
fn a_file_that_is_synced_before_another_may_be_its_journal() {
    for guards in [false, true] {
        let mut planted = Planted::new("/srv");
        planted.open("data", O_RDWR, 4);
        for _ in 0..3 {
            planted.open("journal", O_RDWR | O_CREAT | O_EXCL, 3);
            planted.moved(Op::Write, 3, 1000, 10 * MS);
            planted.on(Op::Fsync, 3, 20 * MS);
            planted.on(Op::Fsync, 3, 20 * MS);
            if guards {
                planted.on(Op::Fsync, 4, 20 * MS);
            }
            planted.on(Op::Close, 3, MS);
            planted.named(Op::Unlink, "journal", MS, 0);
        }
        let found = bill(&planted.finish());
        assert_eq!(of(&found, NeedlessKind::Scratch), None);
        let synced = of(&found, NeedlessKind::SyncedThenRemoved);
        let synced = synced.map(|one| (one.times, one.summed_ns / MS));
        assert_eq!(synced, (!guards).then_some((6, 120)));
    }
}

/// Fails where a file is taken for scratch whose other name stays, as an object of git's is.
#[test]
fn a_file_that_has_another_name_is_kept() {
    for linked in [false, true] {
        let mut planted = Planted::new("/srv");
        planted.open("objects/tmp", O_RDWR | O_CREAT | O_EXCL, 3);
        planted.moved(Op::Write, 3, 1000, 10 * MS);
        planted.on(Op::Close, 3, MS);
        if linked {
            let (name, to) = (Some(planted.path("objects/tmp")), Some(planted.path("objects/2e")));
            planted.call(1, Op::Link, MS, |call| (call.path, call.to) = (name, to));
        }
        planted.named(Op::Unlink, "objects/tmp", MS, 0);
        assert_eq!(bill(&planted.finish()).needless.is_empty(), linked);
    }
}

/// Fails where what was forced to the device counts as overwritten, or what was written since as read
/// twice.
#[test]
fn bytes_are_told_apart_by_what_came_before() {
    let mut planted = Planted::new("/srv");
    planted.open("data", O_RDWR, 3);
    let at = |planted: &mut Planted, op, offset: i64, bytes: u64| {
        planted.call(1, op, 10 * MS, |call| {
            (call.fd, call.offset, call.length, call.result) = (3, offset, bytes, bytes as i64);
        });
    };
    at(&mut planted, Op::Write, 0, 8192);
    at(&mut planted, Op::Write, 4096, 8192);
    planted.on(Op::Fsync, 3, MS);
    at(&mut planted, Op::Write, 0, 4096);
    at(&mut planted, Op::Read, 0, 4096);
    at(&mut planted, Op::Read, 0, 8192);
    at(&mut planted, Op::Write, 0, 4096);
    at(&mut planted, Op::Read, 0, 4096);
    at(&mut planted, Op::Read, 4096, 100);
    let found = bill(&planted.finish());
    let over = of(&found, NeedlessKind::Overwritten).unwrap();
    // Once before the sync, and once after it.
    assert_eq!((over.times, over.bytes, over.summed_ns / MS), (2, 8192, 15));
    let again = of(&found, NeedlessKind::ReadTwice).unwrap();
    assert_eq!((again.times, again.bytes), (2, 4096 + 100));
    let small = of(&found, NeedlessKind::SmallReads).unwrap();
    assert_eq!((small.times, small.bytes), (1, 100));
}

/// Fails where threads in calls at once make parts that are more than the whole.
#[test]
fn parts_add_up_to_the_whole() {
    let mut planted = Planted::new("/srv");
    planted.open("a/log", O_RDWR, 3);
    planted.open("b/log", O_RDWR, 4);
    planted.begin(1, 2, true);
    for _ in 0..10 {
        let began_ns = planted.now_ns;
        for (thread, op, fd, took_ms) in [(1, Op::Fsync, 3, 30), (2, Op::Write, 4, 25)] {
            planted
                .call(thread, op, took_ms * MS, |call| (call.fd, call.began_ns) = (fd, began_ns));
        }
        planted.think(2 * MS);
    }
    let bill = bill(&planted.finish());
    let whole = bill.files.busy_share.middle();
    let kinds: f64 = bill.kinds.iter().map(|kind| kind.cost.part.middle()).sum();
    let folders: f64 = bill.folders.iter().map(|folder| folder.cost.part.middle()).sum();
    let files: f64 = bill.top_files.iter().map(|file| file.share).sum();
    assert!(whole > 0.9 && whole <= 1.0, "{whole}");
    for sum in [kinds, folders, files] {
        assert!((sum - whole).abs() < 0.001, "{sum} of {whole}");
    }
}

/// Fails where waiting for one thing is taken for waiting for another.
#[test]
fn waiting_is_told_apart() {
    let header = Header { sees_waiting: true, divides_waits: true, ..header() };
    let mut planted = Planted::with(&header, "/srv");
    planted.open("data", O_RDWR, 3);
    let mut call = |op, waits: fn(&mut Call)| {
        planted.call(1, op, 10 * MS, |call| {
            (call.fd, call.waited_ns) = (3, 9 * MS);
            waits(call);
        });
    };
    call(Op::Read, |call| call.queued_ns = 8 * MS);
    call(Op::Write, |call| (call.queued_ns, call.locked_ns) = (MS, 7 * MS));
    call(Op::Fsync, |_| {});
    call(Op::Sendfile, |call| call.piped_ns = 2 * MS);
    let bill = bill(&planted.finish());
    let waited_for = bill.files.divided.unwrap().waited_for;
    let expected = WaitedFor {
        device_ns: (1 + 1 + 9 + 7) * MS,
        lock_ns: 7 * MS,
        pipe_ns: 2 * MS,
        processor_ns: 9 * MS,
    };
    assert_eq!(waited_for, Some(expected));
    let most = |kind| {
        let found = bill.kinds.iter().find(|one| one.kind == kind);
        found.and_then(|one| one.cost.mostly_waits_for())
    };
    assert_eq!(most(crate::Kind::Sync), Some(Wait::Device));
    assert_eq!(most(crate::Kind::Write), Some(Wait::Lock));
}

/// Fails where what was measured later is not taken for what comes after it, or where a bill is made
/// of what is mostly the recorder's.
#[test]
fn what_the_recorder_measures_counts_from_there_on() {
    let mut planted = Planted::new("/srv");
    planted.open("data", O_RDWR, 3);
    for stop_ns in [MS, 4 * MS] {
        let range = OverheadNs { low: stop_ns as i64, high: stop_ns as i64 };
        planted.push(Entry::Overhead { overhead_ns: range, within_ns: range });
        for _ in 0..10 {
            planted.on(Op::Fsync, 3, 10 * MS);
        }
    }
    let trace = planted.finish();
    let measured = bill(&trace);
    let sync = measured.kinds.iter().find(|kind| kind.kind == crate::Kind::Sync).unwrap();
    assert_eq!(sync.cost.summed_ns.low / MS, 10 * 9 + 10 * 6);
    assert!(!measured.too_coarse);
    let mut planted = Planted::new("/srv");
    planted.open("data", O_RDWR, 3);
    let range = OverheadNs { low: 8_000_000, high: 8_000_000 };
    planted.push(Entry::Overhead { overhead_ns: range, within_ns: range });
    for _ in 0..10 {
        planted.on(Op::Fsync, 3, 10 * MS);
    }
    assert!(bill(&planted.finish()).too_coarse);
}
