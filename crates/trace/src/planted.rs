//! Traces that are made up: for tests of what reads them.

use crate::call::{Call, HERE, PathId, WORKING_FOLDER};
use crate::entry::Entry;
use crate::header::{Header, Sees, Summary};
use crate::op::Op;
use crate::writer::TraceWriter;

/// A header as a recorder without any overhead would write it, which sees page faults and `io_uring`,
/// and does not see what is waiting.
pub fn header() -> Header {
    Header {
        program: "app".to_owned(),
        started_s: 1_795_000_000,
        kernel: "6.8.0".to_owned(),
        processors: 2,
        page_bytes: 4096,
        sees: Sees { faults: true, rings: true, idle: false },
        ..Header::default()
    }
}

/// A trace that is being made up. Time goes by with each call, and where it is said.
///
/// Nothing here can fail but by a defect of the test that uses it, so everything panics.
pub struct Planted {
    writer: TraceWriter<Vec<u8>>,
    /// Now, since the recording began.
    pub now_ns: u64,
}

#[allow(clippy::unwrap_used)]
impl Planted {
    /// A trace of one process, 1, in a folder.
    pub fn new(folder: &str) -> Self {
        Self::with(&header(), folder)
    }

    /// The same with a header of its own.
    pub fn with(header: &Header, folder: &str) -> Self {
        let writer = TraceWriter::new(Vec::new(), header).unwrap();
        let mut planted = Self { writer, now_ns: 0 };
        planted.begin(0, 1, false);
        let path = planted.path(folder);
        let fd = WORKING_FOLDER;
        planted.push(Entry::Inherited { process: 1, fd, path, flags: 0, offset: 0 });
        planted
    }

    /// The number of a path.
    pub fn path(&mut self, path: &str) -> PathId {
        self.writer.path(path.as_bytes()).unwrap()
    }

    /// Adds any entry.
    pub fn push(&mut self, entry: Entry) {
        self.writer.push(entry).unwrap();
    }

    /// A thread of its parent, or a process with a copy of its parent's descriptors.
    pub fn begin(&mut self, parent: u32, child: u32, thread: bool) {
        let (shares_files, shares_folder) = (thread, thread);
        let at_ns = self.now_ns;
        self.push(Entry::Fork { at_ns, parent, child, thread, shares_files, shares_folder });
    }

    /// Time goes by without a call.
    pub fn think(&mut self, ns: u64) {
        self.now_ns += ns;
    }

    /// Any call, which begins now and ends after so long.
    pub fn call(&mut self, thread: u32, op: Op, took_ns: u64, change: impl FnOnce(&mut Call)) {
        let mut call = Call { began_ns: self.now_ns, took_ns, ..Call::new(thread, op) };
        change(&mut call);
        self.push(Entry::Call(call));
        self.now_ns = self.now_ns.max(call.ended_ns());
    }

    /// A call with a path, relative to the working folder.
    pub fn named(&mut self, op: Op, path: &str, took_ns: u64, result: i64) {
        let path = Some(self.path(path));
        self.call(1, op, took_ns, |call| {
            (call.fd, call.path, call.result) = (WORKING_FOLDER, path, result);
        });
    }

    /// An open that gives this descriptor, for 2 µs.
    pub fn open(&mut self, path: &str, flags: u64, fd: i32) {
        let path = Some(self.path(path));
        self.call(1, Op::Open, 2_000, |call| {
            (call.fd, call.path, call.flags) = (WORKING_FOLDER, path, flags);
            call.result = fd.into();
        });
    }

    /// A read or a write of so many bytes at the current position.
    pub fn moved(&mut self, op: Op, fd: i32, bytes: u64, took_ns: u64) {
        self.call(1, op, took_ns, |call| {
            (call.fd, call.length, call.offset) = (fd, bytes, HERE);
            call.result = bytes as i64;
        });
    }

    /// A call on a descriptor alone.
    pub fn on(&mut self, op: Op, fd: i32, took_ns: u64) {
        self.call(1, op, took_ns, |call| call.fd = fd);
    }

    /// The trace, which ends now.
    pub fn finish(self) -> Vec<u8> {
        let wall_ns = self.now_ns;
        self.finish_having_used(wall_ns / 2, wall_ns / 4)
    }

    /// The same, of a program that used so much processor time, outside the kernel and within.
    pub fn finish_having_used(self, user_ns: u64, system_ns: u64) -> Vec<u8> {
        let (wall_ns, status) = (self.now_ns, Some(0));
        self.writer.finish(&Summary { wall_ns, user_ns, system_ns, status }).unwrap()
    }

    /// The trace as a recorder leaves it that is killed.
    pub fn cut(self) -> Vec<u8> {
        self.writer.abandon().unwrap()
    }
}
