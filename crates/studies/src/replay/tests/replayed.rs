//! Replays in folders.

use std::os::unix::fs::MetadataExt as _;
use std::time::Instant;

use super::*;
use crate::testing::{in_memory, on_disk};

/// A program that does a little of everything.
fn of_everything() -> TestTrace {
    let mut told = TestTrace::new();
    let t = &mut told;
    let read = t.open(MAIN, "old/a", RDONLY);
    t.read(MAIN, read, 8192, 8192);
    t.read(MAIN, read, 8192, 100);
    t.call(Call { fd: read, ..Call::new(MAIN, Op::Stat) });
    let end = libc::SEEK_END as u64;
    t.call(Call { fd: read, offset: -92, flags: end, result: 8200, ..Call::new(MAIN, Op::Seek) });
    t.read(MAIN, read, 92, 92);
    t.close(MAIN, read);
    t.on(MAIN, Op::Mkdir, "new", 0);
    t.on(MAIN, Op::Mkdir, "new", -i64::from(libc::EEXIST));
    let made = t.open(MAIN, "new/b", MAKES | libc::O_EXCL);
    t.write(MAIN, made, 5000);
    let at = |offset, bytes| Call {
        fd: made,
        offset,
        length: bytes,
        result: bytes as i64,
        ..Call::new(MAIN, Op::Write)
    };
    t.call(at(20_000, 4096));
    t.call(Call { fd: made, ..Call::new(MAIN, Op::Fdatasync) });
    t.call(Call { fd: made, length: 6000, ..Call::new(MAIN, Op::Truncate) });
    t.call(Call { fd: made, offset: 0, length: 9000, ..Call::new(MAIN, Op::Allocate) });
    t.close(MAIN, made);
    t.on_both(Op::Rename, "new/b", "new/c");
    t.on_both(Op::Link, "new/c", "new/d");
    t.on_both(Op::Symlink, "c", "new/e");
    t.on(MAIN, Op::Readlink, "new/e", 1);
    t.on(MAIN, Op::Unlink, "new/d", 0);
    t.on(MAIN, Op::Access, "old/missing", MISSING);
    let folder = t.open(MAIN, "old", libc::O_DIRECTORY);
    for result in [72, 0] {
        let list = Call { fd: folder, length: 32768, ..Call::new(MAIN, Op::Getdents) };
        t.call(Call { result, ..list });
    }
    t.close(MAIN, folder);
    t.on(MAIN, Op::Utime, "new/c", 0);
    t.on(MAIN, Op::Chmod, "new/c", 0);
    told
}

#[test]
fn each_call_goes_as_it_was_recorded_and_leaves_what_it_left() {
    for folder in [on_disk(), in_memory()] {
        let slice = of_everything().replayed(folder.path(), &[]).unwrap();
        assert_eq!(slice.outcome.untrusted, None);
        assert!(slice.figure("deviations").abs() < 1e-9, "{slice:?}");
        assert_eq!((slice.laps, slice.figure("calls") as u64), (1, 28), "{slice:?}");
        assert_eq!(fs::metadata(folder.path().join("old/a")).unwrap().len(), 8292);
        let made = fs::metadata(folder.path().join("new/c")).unwrap();
        assert_eq!((made.len(), made.nlink()), (9000, 1));
        assert!(!folder.path().join("new/b").exists());
        assert_eq!(slice.requested_bytes(), 8192 + 100 + 92 + 5000 + 4096);
        assert_eq!(slice.spent.sync_calls, 1);
        // Names: two folders tried, a file made, renamed, linked twice and removed.
        assert_eq!(slice.spent.name_changes, 7);
    }
}

/// Fails where what is copied from its beginning, again and again, is copied from where the copy before
/// had stopped.
#[test]
fn what_is_copied_comes_from_where_it_came() {
    let mut told = TestTrace::new();
    told.looked("old/a", FileKind::Regular, 100);
    let (read, made) = (told.open(MAIN, "old/a", RDONLY), told.open(MAIN, "new", MAKES));
    for op in [Op::CopyRange, Op::CopyRange, Op::Sendfile] {
        let offset = 0;
        let copy = Call { fd: read, other: made, offset, length: 100, ..Call::new(MAIN, op) };
        told.call(Call { result: 100, ..copy });
    }
    let folder = on_disk();
    let slice = told.replayed(folder.path(), &[]).unwrap();
    assert!(slice.figure("deviations").abs() < 1e-9, "{slice:?}");
    assert_eq!(fs::metadata(folder.path().join("new")).unwrap().len(), 300);
}

#[test]
fn a_replay_takes_no_more_than_was_said() {
    let (_kept, path) = of_everything().file();
    let trace = path.to_str().unwrap();
    let mut workload = testing::workload(&REPLAY, "recorded", &[("trace", trace)]);
    let most = workload.footprint(1);
    let folder = in_memory();
    let slice = testing::finish(testing::ready(&mut *workload, folder.path(), 1).unwrap());
    assert!(slice.unwrap().figure("calls") > 0.0);
    let entries = |path: PathBuf| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let top: Vec<PathBuf> = entries(folder.path().to_owned()).collect();
    let within: Vec<PathBuf> = top.iter().cloned().flat_map(entries).collect();
    let bytes: u64 = within.iter().map(|path| fs::metadata(path).map_or(0, |f| f.len())).sum();
    assert!((top.len() + within.len()) as u64 <= most.files, "{most:?}");
    assert!(bytes > 17_000 && bytes <= most.space_bytes, "{bytes} of {most:?}");
}

#[test]
fn the_parts_are_the_whole() {
    let folder = in_memory();
    let slice = of_everything().replayed(folder.path(), &[]).unwrap();
    let parts: f64 = super::super::spec::SPEC.parts.iter().map(|part| slice.figure(part)).sum();
    let elapsed_ns = slice.spent.elapsed_ns as f64;
    assert!(parts <= elapsed_ns + 1.0 && parts > elapsed_ns / 2.0, "{parts} of {elapsed_ns}");
    assert!(slice.figure("bound_share") > 0.2 && slice.figure("bound_share") < 0.8);
}

#[test]
fn a_file_that_lacks_and_a_read_that_is_short_make_the_arm_invalid() {
    let mut lacks = TestTrace::new();
    lacks.on(MAIN, Op::Stat, "file", MISSING);
    // Nobody made it, as far as the trace tells.
    let file = lacks.open(MAIN, "file", RDONLY);
    lacks.close(MAIN, file);
    lacks.open(MAIN, "log", MAKES);
    let slice = lacks.replayed(in_memory().path(), &[]).unwrap();
    let why = slice.outcome.untrusted.clone().unwrap();
    assert!(why.contains("2 of 4 calls went otherwise"), "{why}");
    assert!(why.contains("open of file gave No such file"), "{why}");
    assert!(why.contains("instead of success"), "{why}");

    let mut short = TestTrace::new();
    let file = short.open(MAIN, "file", MAKES | libc::O_EXCL);
    short.write(MAIN, file, 50);
    short.close(MAIN, file);
    let file = short.open(MAIN, "file", RDONLY);
    short.read(MAIN, file, 100, 100);
    let slice = short.replayed(in_memory().path(), &[]).unwrap();
    let why = slice.outcome.untrusted.unwrap();
    assert!(why.contains("read of file gave 50 B instead of 100 B"), "{why}");
}

/// Fails where a replay without rings and page faults, which is quick on any storage, is trusted
/// although the recording saw them.
#[test]
fn operations_on_rings_and_page_faults_are_missing_in_a_replay() {
    let untrusted = |op, took_ns| {
        let mut told = TestTrace::new();
        let log = told.open(MAIN, "log", MAKES);
        (0..5).for_each(|_| told.write(MAIN, log, 10));
        told.call(Call { fd: log, took_ns, ..Call::new(MAIN, op) });
        told.replayed(in_memory().path(), &[]).unwrap().outcome.untrusted
    };
    assert!(untrusted(Op::RingSync, 100_000).unwrap().contains("1 operation on io_uring"));
    assert!(untrusted(Op::Fault, 100_000).unwrap().contains("1 page fault of mapped files"));
    assert!(untrusted(Op::Msync, 100_000).unwrap().contains("1 sync of mapped files"));
    let synced = |shared: i32| {
        let mut told = TestTrace::new();
        let log = told.open(MAIN, "log", MAKES);
        told.write(MAIN, log, 10);
        let flags = libc::PROT_WRITE as u64 | (shared as u64) << 32;
        told.call(Call { fd: log, flags, length: 10, ..Call::new(MAIN, Op::Map) });
        told.call(Call { fd: log, took_ns: 100_000, ..Call::new(MAIN, Op::Fsync) });
        told.replayed(in_memory().path(), &[]).unwrap().outcome.untrusted
    };
    assert!(synced(libc::MAP_SHARED).unwrap().contains("1 sync of mapped files"));
    assert_eq!(synced(libc::MAP_PRIVATE), None);
}

#[test]
fn one_call_of_many_may_go_otherwise() {
    let deviating = |others: usize| {
        let mut told = TestTrace::new();
        told.on(MAIN, Op::Stat, "file", MISSING);
        told.on(MAIN, Op::Stat, "file", 0);
        let log = told.open(MAIN, "log", MAKES);
        (3..others).for_each(|_| told.write(MAIN, log, 10));
        let slice = told.replayed(in_memory().path(), &[]).unwrap();
        assert!((slice.figure("deviations") - 1.0).abs() < 1e-9);
        slice.outcome.untrusted.is_some()
    };
    assert_eq!((deviating(99), deviating(100)), (true, false));
}

#[test]
fn thinking_is_kept_or_scaled_or_left_out() {
    let took = |think: &str| {
        let mut told = TestTrace::new();
        told.open(MAIN, "log", MAKES);
        told.pause(Duration::from_millis(60));
        told.on(MAIN, Op::Stat, "missing", MISSING);
        let began = Instant::now();
        let slice = told.replayed(in_memory().path(), &[("think", think)]).unwrap();
        assert!(slice.spent.elapsed_ns <= began.elapsed().as_nanos() as u64);
        (slice.spent.elapsed_ns, slice.figure("think_ns"))
    };
    let (kept_ns, thought_ns) = took("100");
    assert!(kept_ns >= 60_000_000 && thought_ns >= 59_000_000.0, "{kept_ns} {thought_ns}");
    assert!(took("50").0 >= 30_000_000);
    // A machine that is busy may keep a thread waiting, but not each time.
    assert!((0..5).any(|_| took("0").1 < 30_000_000.0));
}

#[test]
fn files_are_copied_where_the_user_has_them() {
    let mine = in_memory();
    fs::create_dir(mine.path().join("old")).unwrap();
    fs::write(mine.path().join("old/a"), b"mine ".repeat(2000)).unwrap();
    let mut told = TestTrace::new();
    let read = told.open(MAIN, "old/a", RDONLY);
    told.read(MAIN, read, 8192, 8192);
    let other = told.open(MAIN, "old/other", RDONLY);
    told.read(MAIN, other, 64, 64);
    told.open(MAIN, "log", MAKES);
    let folder = on_disk();
    let given = [("with_files", mine.path().to_str().unwrap()), ("cache", "cold")];
    let slice = told.replayed(folder.path(), &given).unwrap();
    assert!(slice.figure("deviations").abs() < 1e-9);
    assert!(fs::read(folder.path().join("old/a")).unwrap().starts_with(b"mine mine"));
    assert_eq!(fs::metadata(folder.path().join("old/other")).unwrap().len(), 64);
    let mut told = TestTrace::new();
    told.open(MAIN, "log", MAKES);
    assert!(told.refused(&[("with_files", "/nowhere")]).contains("is no folder"));
}

#[test]
fn what_was_open_before_is_open_where_it_was() {
    let mut told = TestTrace::new();
    let path = told.path("/srv/app/data");
    let flags = libc::O_RDWR as u64;
    told.push(Entry::Inherited { process: MAIN, fd: 7, path, flags, offset: 500 });
    told.read(MAIN, 7, 4096, 100);
    told.write(MAIN, 7, 50);
    let program = told.program();
    assert_eq!(initial(&program), ["data 600"]);
    assert_eq!(program.opened.len(), 2, "{:?}", program.opened);
}
