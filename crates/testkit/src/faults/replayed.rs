//! A small recording, for replays in which a call fails: one call of each kind that is replayed,
//! and two threads of which one waits for the other.

use trace::planted::Planted;
use trace::{Call, Entry, FileFacts, FileKind, HERE, Op, WORKING_FOLDER};

/// What a call takes.
const CALL_NS: u64 = 2_000;
/// The length of the file that is there before.
const INPUT_BYTES: u64 = 5_000;
const LINE_BYTES: u64 = 70;

/// Flags of open(2), and other constants, as Linux has them.
const READ: u64 = libc::O_RDONLY as u64;
const APPEND: u64 = (libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND) as u64;
const WRITE: u64 = (libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u64;
const FOLDER: u64 = (libc::O_RDONLY | libc::O_DIRECTORY) as u64;
const MISSING: i64 = -(libc::ENOENT as i64);

/// The trace. In a replay of it, no call is another one's in disguise: each that fails makes a
/// deviation, which is more than one in a hundred.
pub(super) fn trace() -> Vec<u8> {
    let mut planted = Planted::new("/srv/app");
    found(&mut planted, "input", FileKind::Regular, INPUT_BYTES);
    read(&mut planted);
    write(&mut planted);
    names(&mut planted);
    threads(&mut planted);
    planted.finish()
}

/// What the program found.
fn found(planted: &mut Planted, path: &str, kind: FileKind, bytes: u64) {
    let path = planted.path(path);
    planted.push(Entry::File(FileFacts {
        at_ns: planted.now_ns,
        path,
        kind,
        bytes,
        device: 1,
        inode: 1,
        mode: 0o644,
        sample_bytes: 0,
        compressed_bytes: 0,
        target: None,
    }));
}

fn call(planted: &mut Planted, op: Op, change: impl FnOnce(&mut Call)) {
    planted.call(1, op, CALL_NS, change);
}

fn open(planted: &mut Planted, thread: u32, path: &str, flags: u64, fd: i32) {
    let path = Some(planted.path(path));
    planted.call(thread, Op::Open, CALL_NS, |call| {
        (call.fd, call.path, call.flags, call.mode) = (WORKING_FOLDER, path, flags, 0o644);
        call.result = fd.into();
    });
}

/// A read or write of so many bytes, all of which it gets.
fn moved(planted: &mut Planted, op: Op, fd: i32, bytes: u64, offset: i64) {
    call(planted, op, |call| {
        (call.fd, call.length, call.offset) = (fd, bytes, offset);
        call.result = bytes as i64;
    });
}

fn on(planted: &mut Planted, op: Op, fd: i32) {
    call(planted, op, |call| call.fd = fd);
}

fn named(planted: &mut Planted, op: Op, path: &str, mode: u32, result: i64) {
    let path = Some(planted.path(path));
    call(planted, op, |call| {
        (call.fd, call.path, call.mode, call.result) = (WORKING_FOLDER, path, mode, result);
        call.length = 100;
    });
}

fn both(planted: &mut Planted, op: Op, path: &str, to: &str) {
    let (path, to) = (Some(planted.path(path)), Some(planted.path(to)));
    call(planted, op, |call| {
        (call.fd, call.other, call.path, call.to) = (WORKING_FOLDER, WORKING_FOLDER, path, to);
    });
}

fn read(planted: &mut Planted) {
    named(planted, Op::Stat, "input", 0, 0);
    open(planted, 1, "input", READ, 3);
    moved(planted, Op::Read, 3, 4_096, HERE);
    moved(planted, Op::Read, 3, 100, 4_500);
    call(planted, Op::Seek, |call| (call.fd, call.offset, call.result) = (3, 10, 10));
    call(planted, Op::Advise, |call| (call.fd, call.offset, call.length) = (3, 0, 4_096));
    on(planted, Op::Stat, 3);
    on(planted, Op::Close, 3);
}

fn write(planted: &mut Planted) {
    named(planted, Op::Mkdir, "made", 0o755, 0);
    open(planted, 1, "made/log", APPEND, 3);
    moved(planted, Op::Write, 3, LINE_BYTES, HERE);
    on(planted, Op::Fdatasync, 3);
    on(planted, Op::Close, 3);
    open(planted, 1, "made/data", WRITE, 3);
    call(planted, Op::Allocate, |call| (call.fd, call.offset, call.length) = (3, 0, 8_192));
    call(planted, Op::Flock, |call| (call.fd, call.flags) = (3, libc::LOCK_EX as u64));
    call(planted, Op::Lock, |call| {
        (call.fd, call.flags, call.mode) = (3, libc::F_SETLK as u64, libc::F_WRLCK as u32);
        (call.other, call.offset, call.length) = (libc::SEEK_SET, 0, 10);
    });
    moved(planted, Op::Write, 3, 4_096, 4_096);
    on(planted, Op::Fsync, 3);
    call(planted, Op::Truncate, |call| (call.fd, call.length) = (3, 1_000));
    call(planted, Op::Chmod, |call| (call.fd, call.mode) = (3, 0o600));
    on(planted, Op::Close, 3);
    open(planted, 1, "input", READ, 3);
    open(planted, 1, "made/copy", WRITE, 4);
    for op in [Op::CopyRange, Op::Sendfile] {
        call(planted, op, |call| {
            (call.fd, call.other, call.length, call.result) = (3, 4, 1_000, 1_000);
        });
    }
    on(planted, Op::Close, 3);
    on(planted, Op::Close, 4);
}

fn names(planted: &mut Planted) {
    named(planted, Op::Stat, "made/none", 0, MISSING);
    named(planted, Op::Access, "made/log", 4, 0);
    named(planted, Op::Chmod, "made/log", 0o600, 0);
    named(planted, Op::Utime, "made/log", 0, 0);
    both(planted, Op::Rename, "made/log", "made/log.old");
    both(planted, Op::Link, "made/log.old", "made/second");
    both(planted, Op::Symlink, "log.old", "made/link");
    named(planted, Op::Readlink, "made/link", 0, "log.old".len() as i64);
    open(planted, 1, "made", FOLDER, 3);
    for listed in [150, 0] {
        call(planted, Op::Getdents, |call| {
            (call.fd, call.length, call.result) = (3, 32_768, listed);
        });
    }
    on(planted, Op::Close, 3);
    for name in ["made/second", "made/link", "made/copy"] {
        named(planted, Op::Unlink, name, 0, 0);
    }
    named(planted, Op::Mkdir, "empty", 0o755, 0);
    named(planted, Op::Rmdir, "empty", 0, 0);
}

/// The second thread appends to what the first one made, and that one reads it after.
fn threads(planted: &mut Planted) {
    planted.begin(1, 2, true);
    open(planted, 2, "made/data", APPEND, 3);
    planted.call(2, Op::Write, CALL_NS, |call| {
        (call.fd, call.length, call.result) = (3, LINE_BYTES, LINE_BYTES as i64);
    });
    planted.call(2, Op::Close, CALL_NS, |call| call.fd = 3);
    open(planted, 1, "made/data", READ, 3);
    moved(planted, Op::Read, 3, LINE_BYTES, 1_000);
    on(planted, Op::Close, 3);
}
