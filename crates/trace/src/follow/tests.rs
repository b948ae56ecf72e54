//! Descriptors as the kernel gives, shares, copies and closes them.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::flags::{O_APPEND, O_RDWR};

/// Follows calls that are made up; each takes 10 ns and ends before the next begins.
#[derive(Default)]
struct TraceBuilder {
    follower: Follower,
    now_ns: u64,
    paths: u32,
}

impl TraceBuilder {
    fn path(&mut self, text: &str) -> PathId {
        let id = PathId(self.paths);
        self.paths += 1;
        self.follower.follow(&Entry::Path { id, bytes: text.as_bytes().into() });
        id
    }

    fn call(&mut self, thread: u32, op: Op, change: impl FnOnce(&mut Call)) -> Followed {
        let mut call = Call { began_ns: self.now_ns, took_ns: 10, ..Call::new(thread, op) };
        change(&mut call);
        self.now_ns += 20;
        self.follower.follow(&Entry::Call(call)).unwrap()
    }

    fn open(&mut self, thread: u32, path: &str, fd: i64, flags: u64) {
        let path = Some(self.path(path));
        self.call(thread, Op::Open, |call| {
            (call.fd, call.path, call.result, call.flags) = (WORKING_FOLDER, path, fd, flags);
        });
    }

    fn close(&mut self, thread: u32, fd: i32) {
        self.call(thread, Op::Close, |call| call.fd = fd);
    }

    /// The file that a descriptor stands for.
    fn on(&mut self, thread: u32, fd: i32) -> String {
        let followed = self.call(thread, Op::Fsync, |call| call.fd = fd);
        text(followed.file.and_then(|file| file.path.clone()))
    }

    fn moved(&mut self, thread: u32, op: Op, fd: i32, result: i64) -> Place {
        self.call(thread, op, |call| (call.fd, call.result) = (fd, result)).place
    }

    fn fork(&mut self, parent: u32, child: u32, thread: bool, shares: bool) {
        let (shares_files, shares_folder) = (shares, shares);
        let at_ns = self.now_ns;
        let fork = Entry::Fork { at_ns, parent, child, thread, shares_files, shares_folder };
        self.follower.follow(&fork);
    }

    fn inherit(&mut self, process: u32, fd: i32, path: &str) {
        let path = self.path(path);
        self.follower.follow(&Entry::Inherited { process, fd, path, flags: 0, offset: 100 });
    }
}

fn text(path: Option<Arc<[u8]>>) -> String {
    path.map_or("-".into(), |path| String::from_utf8_lossy(&path).into_owned())
}

#[test]
fn paths_are_of_the_working_folder_and_of_folders_that_are_open() {
    let mut told = TraceBuilder::default();
    told.inherit(1, WORKING_FOLDER, "/srv");
    told.open(1, "data", 3, 0);
    let name = Some(told.path("x"));
    let stat = told.call(1, Op::Stat, |call| (call.fd, call.path) = (3, name));
    assert_eq!(text(stat.about), "/srv/data/x");
    told.call(1, Op::Chdir, |call| call.fd = 3);
    let unlink = told.call(1, Op::Unlink, |call| (call.fd, call.path) = (WORKING_FOLDER, name));
    assert_eq!(text(unlink.path), "/srv/data/x");
    // What was opened before is where it was.
    assert_eq!(told.on(1, 3), "/srv/data");
    let to = Some(told.path("/y"));
    let rename = told.call(1, Op::Rename, |call| (call.path, call.to) = (name, to));
    assert_eq!((text(rename.about), text(rename.to)), ("/srv/data/x".into(), "/y".into()));
    let link = told.call(1, Op::Symlink, |call| (call.path, call.to) = (name, to));
    assert_eq!((text(link.path), text(link.about)), ("x".into(), "/y".into()));
}

#[test]
fn positions_go_on_are_shared_by_duplicates_and_moved_by_seeks() {
    let mut told = TraceBuilder::default();
    told.open(1, "/a", 3, O_RDWR);
    assert_eq!(told.moved(1, Op::Write, 3, 70), Place::At(0));
    told.call(1, Op::Duplicate, |call| (call.fd, call.result) = (3, 4));
    assert_eq!(told.moved(1, Op::Write, 4, 30), Place::At(70));
    assert_eq!(told.moved(1, Op::Read, 3, 0), Place::At(100));
    // A failure moves nothing, and neither does a call that brings its own offset.
    assert_eq!(told.moved(1, Op::Read, 3, -5), Place::At(100));
    let pread = told.call(1, Op::Read, |call| (call.fd, call.offset, call.result) = (3, 7, 9));
    assert_eq!(pread.place, Place::At(7));
    told.moved(1, Op::Seek, 4, 10);
    assert_eq!(told.moved(1, Op::Read, 3, 1), Place::At(10));
    told.open(1, "/b", 5, O_RDWR | O_APPEND);
    assert_eq!(told.moved(1, Op::Write, 5, 70), Place::End);
    assert_eq!(told.moved(1, Op::Read, 5, 1), Place::Unknown);
    told.call(1, Op::Fcntl, |call| (call.fd, call.flags, call.offset) = (5, F_SETFL, 0));
    told.moved(1, Op::Seek, 5, 3);
    assert_eq!(told.moved(1, Op::Write, 5, 70), Place::At(3));
    told.inherit(1, 0, "/in");
    assert_eq!(told.moved(1, Op::Read, 0, 1), Place::At(100));
    // From the former on, and to where the latter is.
    told.call(1, Op::Sendfile, |call| (call.fd, call.other, call.result) = (0, 3, 50));
    assert_eq!(told.moved(1, Op::Read, 0, 1), Place::At(151));
    assert_eq!(told.moved(1, Op::Write, 3, 1), Place::At(61));
}

#[test]
fn a_fork_has_a_copy_and_a_thread_shares() {
    let mut told = TraceBuilder::default();
    told.open(1, "/a", 3, 0);
    told.fork(1, 2, false, false);
    told.fork(1, 11, true, true);
    told.close(11, 3);
    assert_eq!([told.on(1, 3), told.on(11, 3), told.on(2, 3)], ["-", "-", "/a"]);
    told.open(2, "/b", 4, 0);
    assert_eq!([told.on(1, 4), told.on(2, 4)], ["-", "/b"]);
    assert_eq!(told.follower.process(11), Some(1));
    assert_eq!(told.follower.process(2), Some(2));
    // The position is the parent's, too.
    told.open(1, "/c", 5, 0);
    told.fork(1, 3, false, false);
    told.moved(3, Op::Read, 5, 8);
    assert_eq!(told.moved(1, Op::Read, 5, 8), Place::At(8));
}

#[test]
fn exec_closes_what_it_shall_and_ends_the_other_threads() {
    let mut told = TraceBuilder::default();
    told.open(1, "/kept", 3, 0);
    told.open(1, "/gone", 4, O_CLOEXEC);
    told.open(1, "/set", 5, 0);
    told.call(1, Op::Fcntl, |call| (call.fd, call.flags, call.offset) = (5, F_SETFD, FD_CLOEXEC));
    told.call(1, Op::Fcntl, |call| {
        (call.fd, call.flags, call.result) = (4, F_DUPFD, 6);
    });
    told.fork(1, 11, true, true);
    told.follower.follow(&Entry::Exec { at_ns: 0, thread: 1, program: None });
    let kept = [3, 4, 5, 6].map(|fd| told.on(1, fd));
    assert_eq!(kept, ["/kept", "-", "-", "/gone"]);
    assert_eq!(told.follower.process(11), None);
    told.call(1, Op::CloseRange, |call| (call.fd, call.other) = (4, i32::MAX));
    assert_eq!([told.on(1, 3), told.on(1, 6)], ["/kept", "-"]);
}

#[test]
fn pipes_have_two_ends_and_what_a_descriptor_is_unknown_for_stays_so() {
    let mut told = TraceBuilder::default();
    let pipe = told.call(1, Op::Pipe, |call| (call.fd, call.other) = (3, 4));
    let [read, write] = pipe.made.map(|end| end.unwrap().number);
    assert_eq!(write, read + 1);
    let written = told.call(1, Op::Write, |call| (call.fd, call.result) = (4, 1));
    assert_eq!(written.file.unwrap().number, write);
    // From a descriptor that came through a socket, over one that is known.
    told.call(1, Op::Duplicate, |call| (call.fd, call.other, call.result) = (9, 4, 4));
    assert_eq!(told.call(1, Op::Write, |call| call.fd = 4).file, None);
}

#[test]
fn a_number_that_another_thread_is_given_while_it_is_closed_is_that_threads() {
    let mut told = TraceBuilder::default();
    told.open(1, "/old", 3, 0);
    told.fork(1, 11, true, true);
    let began_ns = told.now_ns;
    told.now_ns += 5;
    // Opened while the close is under way, and told of first.
    told.open(11, "/new", 3, 0);
    let closed = told.call(1, Op::Close, |call| {
        (call.fd, call.began_ns, call.took_ns) = (3, began_ns, 100);
    });
    assert_eq!(text(closed.about), "/old");
    assert_eq!(told.on(11, 3), "/new");
    told.close(11, 3);
    assert_eq!(told.on(11, 3), "-");
}

#[test]
fn what_is_followed_is_bounded() {
    let mut told = TraceBuilder::default();
    for fd in 0..1024 {
        told.open(1, "/a", fd, 0);
    }
    for child in 2..2000 {
        told.fork(1, child, false, false);
    }
    assert_eq!([told.on(900, 1023), told.on(1999, 1023)], ["/a", "-"]);
    for child in 2..2000 {
        told.follower.follow(&Entry::Exit {
            at_ns: 0,
            thread: child,
            status: 0,
            user_ns: 0,
            system_ns: 0,
        });
    }
    told.fork(1, 2, false, false);
    assert_eq!(told.on(2, 1023), "/a");
}
