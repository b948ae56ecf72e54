//! Traces made up by hand, and what becomes of them.

#![allow(clippy::unwrap_used)]

mod made;
mod order;
mod replayed;
mod safe;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::study::StudyError;
use tempfile::TempDir;
use trace::{
    Call, Entry, FileFacts, FileKind, Header, Mechanism, Op, OverheadNs, PathId, Summary,
    TraceWriter, WORKING_FOLDER,
};

use super::plan::program::{Act, Program};
use super::plan::{folder, make};
use super::{REPLAY, read};
use crate::testing::{self, Slice};

/// The first process, which is started in `/srv/app`.
const MAIN: u32 = 100;
const RDONLY: i32 = libc::O_RDONLY;
const WRONLY: i32 = libc::O_WRONLY;
const MAKES: i32 = libc::O_WRONLY | libc::O_CREAT;
const MISSING: i64 = -(libc::ENOENT as i64);
const CALL_NS: u64 = 1_000;

/// A trace that is being made up: each call begins a microsecond after the one before ended.
struct TestTrace {
    writer: TraceWriter<Vec<u8>>,
    now_ns: u64,
    /// The descriptor that each thread opened last.
    fds: HashMap<u32, i32>,
}

impl TestTrace {
    fn new() -> Self {
        Self::with_overhead(OverheadNs::default())
    }

    fn with_overhead(overhead_ns: OverheadNs) -> Self {
        let header = Header {
            mechanism: Mechanism::Planted,
            attached: false,
            program: "planted".to_owned(),
            started_s: 0,
            kernel: "6".to_owned(),
            processors: 2,
            page_bytes: 4096,
            sees_waiting: true,
            divides_waits: false,
            sees: trace::Sees::default(),
            operations: None,
            sees_wakers: false,
            overhead_ns,
            overhead_within_ns: OverheadNs::default(),
            named: None,
            dispatch_ns: None,
            process_ns: None,
            program_ns: None,
        };
        let writer = TraceWriter::new(Vec::new(), &header).unwrap();
        let mut told = Self { writer, now_ns: 0, fds: HashMap::new() };
        told.fork(0, MAIN);
        let path = told.path("/srv/app");
        let (process, fd) = (MAIN, WORKING_FOLDER);
        told.push(Entry::Inherited { process, fd, path, flags: 0, offset: 0 });
        told
    }

    fn push(&mut self, entry: Entry) {
        self.writer.push(entry).unwrap();
    }

    fn path(&mut self, path: &str) -> PathId {
        self.writer.path(path.as_bytes()).unwrap()
    }

    /// A new process, or a thread of `MAIN` where its number is less than 100 more.
    fn fork(&mut self, parent: u32, child: u32) {
        let thread = parent == MAIN && child < 200;
        self.now_ns += 1_000;
        self.push(Entry::Fork {
            at_ns: self.now_ns,
            parent,
            child,
            thread,
            shares_files: thread,
            shares_folder: thread,
        });
    }

    fn exit(&mut self, thread: u32) {
        self.now_ns += 1_000;
        let at_ns = self.now_ns;
        self.push(Entry::Exit { at_ns, thread, status: 0, user_ns: 0, system_ns: 0 });
    }

    /// Time passes.
    fn pause(&mut self, time: Duration) {
        self.now_ns += time.as_nanos() as u64;
    }

    /// A call, one after the other, that takes a microsecond where it has no time of its own.
    fn call(&mut self, call: Call) {
        self.now_ns += 1_000;
        let (began_ns, took_ns) = (self.now_ns, call.took_ns.max(CALL_NS));
        self.now_ns += took_ns;
        self.push(Entry::Call(Call { began_ns, took_ns, ..call }));
    }

    /// An open that succeeds; the descriptor.
    fn open(&mut self, thread: u32, path: &str, flags: i32) -> i32 {
        let fd = self.fds.entry(thread).or_insert(2);
        *fd += 1;
        let fd = *fd;
        self.opens(thread, path, flags, fd.into());
        fd
    }

    fn opens(&mut self, thread: u32, path: &str, flags: i32, result: i64) {
        let path = Some(self.path(path));
        let (fd, flags, mode) = (WORKING_FOLDER, flags as u64, 0o644);
        self.call(Call { fd, path, flags, mode, result, ..Call::new(thread, Op::Open) });
    }

    fn close(&mut self, thread: u32, fd: i32) {
        self.call(Call { fd, ..Call::new(thread, Op::Close) });
    }

    /// A read of some that were asked for.
    fn read(&mut self, thread: u32, fd: i32, asked: u64, found: i64) {
        self.call(Call { fd, length: asked, result: found, ..Call::new(thread, Op::Read) });
    }

    fn write(&mut self, thread: u32, fd: i32, bytes: u64) {
        let result = bytes as i64;
        self.call(Call { fd, length: bytes, result, ..Call::new(thread, Op::Write) });
    }

    /// A call on a path.
    fn on(&mut self, thread: u32, op: Op, path: &str, result: i64) {
        let path = Some(self.path(path));
        let fd = WORKING_FOLDER;
        let (length, mode) = (100, 0o755);
        self.call(Call { fd, path, result, length, mode, ..Call::new(thread, op) });
    }

    /// A call on two.
    fn on_both(&mut self, op: Op, path: &str, to: &str) {
        let (path, to) = (Some(self.path(path)), Some(self.path(to)));
        let fd = WORKING_FOLDER;
        self.call(Call { fd, other: fd, path, to, ..Call::new(MAIN, op) });
    }

    fn looked(&mut self, path: &str, kind: FileKind, bytes: u64) {
        let path = self.path(path);
        self.push(Entry::File(FileFacts {
            at_ns: self.now_ns,
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

    fn bytes(self) -> Vec<u8> {
        let wall_ns = self.now_ns;
        let summary = Summary { wall_ns, user_ns: 0, system_ns: 0, status: Some(0) };
        self.writer.finish(&summary).unwrap()
    }

    /// A file that has it.
    fn file(self) -> (TempDir, PathBuf) {
        saved(&self.bytes())
    }

    /// What is made of it.
    fn program(self) -> Program {
        let (_folder, path) = self.file();
        let (recording, _) = read::recording(&path, Duration::from_secs(60)).unwrap();
        let folder = folder::chosen(&recording).unwrap();
        make::program(&recording, &folder).unwrap()
    }

    /// A replay of it in a folder.
    fn replayed(self, folder: &Path, given: &[(&str, &str)]) -> Result<Slice, StudyError> {
        let (_kept, path) = self.file();
        let trace = [("trace", path.to_str().unwrap())];
        let given: Vec<(&str, &str)> = trace.into_iter().chain(given.iter().copied()).collect();
        testing::slice(&REPLAY, "recorded", &given, folder, 1)
    }

    /// Why it cannot be replayed.
    fn refused(self, given: &[(&str, &str)]) -> String {
        refusal(&self.bytes(), given)
    }
}

fn saved(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = testing::in_memory();
    let path = folder.path().join("app.trace");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn refusal(bytes: &[u8], given: &[(&str, &str)]) -> String {
    let (_kept, path) = saved(bytes);
    let trace = [("trace", path.to_str().unwrap())];
    let given: Vec<(&str, &str)> = trace.into_iter().chain(given.iter().copied()).collect();
    testing::refusal(&REPLAY, "recorded", &given)
}

/// All that a program does, thread by thread.
fn acts(program: &Program) -> Vec<Vec<Act>> {
    let calls = |replay_thread: &super::plan::program::ReplayThread| {
        let acts = replay_thread.steps.iter().map(|step| step.act);
        acts.filter(|act| act.kind().is_some()).collect()
    };
    program.replay_threads.iter().map(calls).collect()
}

/// What is there before, by its path.
fn initial(program: &Program) -> Vec<String> {
    use super::plan::program::{Initial, InitialKind};
    let shown = |Initial { path, what }: &Initial| {
        let path = program.paths[*path as usize].to_str().unwrap();
        match what {
            InitialKind::Folder => format!("{path}/"),
            InitialKind::File { bytes, .. } => format!("{path} {bytes}"),
            InitialKind::Link { says } => format!("{path} -> {}", says.to_str().unwrap()),
        }
    };
    program.initial.iter().map(shown).collect()
}
