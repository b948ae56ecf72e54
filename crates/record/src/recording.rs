//! From what a mechanism sees to the entries of a trace.

use std::collections::HashSet;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::clock::monotonic_ns;
use host::process::is_alive;
use host::root::Root;
use rustix::fs::makedev;
use rustix::time::{ClockId, clock_gettime};
use sys::usage::Usage;
use trace::{
    AwaitedProcess, Call, Entry, FileFacts, FileKind, Follower, NO_FD, Op, PathId, Sees, Summary,
    TraceWriter, Unseen,
};

use crate::files::{self, Files, ResolvedPath};
use crate::followed::Followed;
use crate::foreign::is_foreign;
use crate::inherited::{self, Inherited};
use crate::kernel_work::{Fault, RingDone};
use crate::mapped::{self, Mapped};
use crate::outside::Outside;
use crate::raw_call::{Event, RawCall, Sink, Woken, leaves_descriptors};
use crate::sample;
use crate::shared::PATH_BYTES;
use crate::table::{self, Outcome, Role, Row};

/// Of so many files a sample is compressed, and no longer than this.
const SAMPLES_MAX: usize = 500;
const SAMPLING_MAX: Duration = Duration::from_millis(150);

/// A recording that is under way.
pub(crate) struct Recording<W: Write> {
    trace: TraceWriter<W>,
    files: Files,
    /// What descriptors and folders stand for, which paths are relative to.
    follower: Follower,
    paths_told: u32,
    /// When it began, on `CLOCK_MONOTONIC`: a command, when it became its program.
    origin_ns: u64,
    /// The same moment on `CLOCK_REALTIME_COARSE`, by which file systems say when a file was
    /// made, as seconds and nanoseconds.
    began: (i64, u32),
    /// The command before it has become its program: what it does until then is ours.
    becoming: Option<u32>,
    /// The command, and when it ended.
    first: Option<u32>,
    ended_ns: Option<u64>,
    /// Processes that have not ended.
    living: HashSet<u32>,
    unseen: [u64; Unseen::ALL.len()],
    /// Programs of another architecture, whose calls have other numbers.
    foreign: HashSet<u32>,
    calls: u64,
    lost: u64,
    /// Files of whose contents a sample is compressed at the end.
    samples: Vec<(PathBuf, FileFacts)>,
    mapped: Mapped,
    outside: Outside,
    /// What is seen beside calls.
    sees: Sees,
}

/// What a recording amounted to.
#[derive(Debug)]
pub struct Recorded {
    /// What the trace ends with.
    pub summary: Summary,
    /// How many calls it has.
    pub calls: u64,
    /// How long the trace became, but for its end.
    pub written_bytes: u64,
    /// How many could not be kept.
    pub lost: u64,
    /// Why it ended before the program did: the trace could not be written.
    pub cut: Option<io::Error>,
    /// Processes that the command started and that were running when it ended.
    pub left_running: usize,
}

impl<W: Write> Recording<W> {
    /// Begins one.
    pub(crate) fn new(trace: TraceWriter<W>, sees: Sees) -> Self {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self {
            trace,
            files: Files::default(),
            follower: Follower::default(),
            paths_told: 0,
            origin_ns: monotonic_ns(),
            began: (now.tv_sec, now.tv_nsec as u32),
            becoming: None,
            first: None,
            ended_ns: None,
            living: HashSet::new(),
            unseen: [0; Unseen::ALL.len()],
            foreign: HashSet::new(),
            calls: 0,
            lost: 0,
            samples: Vec::new(),
            mapped: Mapped::new(),
            outside: Outside::default(),
            sees,
        }
    }

    /// A process that is there already, with all that it has.
    pub(crate) fn meet(&mut self, process: u32) -> io::Result<()> {
        let fork = |parent, child, thread| Entry::Fork {
            at_ns: 0,
            parent,
            child,
            thread,
            shares_files: thread,
            shares_folder: thread,
        };
        let becomes = self.becoming == Some(process);
        if !becomes {
            self.mapped.meet(process);
            if inherited::has_other_mounts(process) {
                self.count_unseen(Unseen::Namespaces, 1);
            }
        }
        self.living.insert(process);
        self.push_followed(fork(0, process, false))?;
        for thread in inherited::threads(process).into_iter().filter(|thread| *thread != process) {
            self.push_followed(fork(process, thread, true))?;
        }
        // What it will not have as its program is ours.
        let lasts = |fd: &Inherited| !becomes || fd.flags & libc::O_CLOEXEC as u64 == 0;
        for inherited in inherited::of_process(process).into_iter().filter(lasts) {
            let path = self.path(&inherited.path)?;
            let (fd, flags, offset) = (inherited.fd, inherited.flags, inherited.offset);
            self.push_followed(Entry::Inherited { process, fd, path, flags, offset })?;
        }
        Ok(())
    }

    /// A command that has not become its program yet.
    pub(crate) fn hold(&mut self, process: u32) -> io::Result<()> {
        (self.becoming, self.first) = (Some(process), Some(process));
        self.meet(process)
    }

    /// Ends the trace.
    pub(crate) fn end(mut self, usage: Usage, followed: Followed) -> Recorded {
        let now_ns = self.elapsed_ns();
        if !self.sees.faults {
            self.count_unseen(Unseen::MappedPages, usage.major_faults);
        }
        let cut = followed.cut.or_else(|| self.tell_rest().err());
        let summary = Summary {
            wall_ns: self.ended_ns.unwrap_or(now_ns),
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            status: followed.end.map(|end| end.status),
        };
        let cut = cut.or_else(|| self.idle().err());
        let finish = |trace: TraceWriter<W>| trace.finish(&summary).err().map(unwritten);
        let written_bytes = self.trace.written_bytes();
        let is_alive = |process: &&u32| is_alive(&Root::real(), process.cast_signed());
        Recorded {
            calls: self.calls,
            lost: self.lost,
            left_running: self.living.iter().filter(is_alive).count(),
            written_bytes,
            cut: cut.or_else(|| finish(self.trace)),
            summary,
        }
    }

    /// What is known at the end alone. A sample that is taken before would bring a file into
    /// memory that the program is about to read.
    fn tell_rest(&mut self) -> io::Result<()> {
        let began = Instant::now();
        for (path, facts) in std::mem::take(&mut self.samples) {
            if began.elapsed() > SAMPLING_MAX {
                break;
            }
            let Some((sample_bytes, compressed_bytes)) = sample::of(&path, &facts) else {
                continue;
            };
            // Told again, for its number may be forgotten.
            let path = self.path(path.as_os_str().as_bytes())?;
            self.push(Entry::File(FileFacts { path, sample_bytes, compressed_bytes, ..facts }))?;
        }
        for (thread, AwaitedProcess { number, name, address }) in
            std::mem::take(&mut self.outside).found()
        {
            let name = self.path(name.as_bytes())?;
            let address = address.map(|address| self.path(address.as_bytes())).transpose()?;
            self.push(Entry::Outside { thread, process: number, name, address })?;
        }
        for kind in Unseen::ALL {
            let count = self.unseen[kind as usize];
            if count > 0 {
                self.push(Entry::Unseen { kind, count })?;
            }
        }
        Ok(())
    }

    /// How long it has been going on.
    fn elapsed_ns(&self) -> u64 {
        self.since_origin(monotonic_ns())
    }

    fn since_origin(&self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.origin_ns)
    }

    /// The process of a thread.
    fn process(&self, thread: u32) -> u32 {
        self.follower.process(thread).unwrap_or(thread)
    }

    fn path(&mut self, path: &[u8]) -> io::Result<PathId> {
        let id = self.trace.path(path).map_err(unwritten)?;
        // Numbers count up: it was told just now.
        if id.0 == self.paths_told {
            self.paths_told += 1;
            self.follower.follow(&Entry::Path { id, bytes: path.into() });
        }
        Ok(id)
    }

    fn push(&mut self, entry: Entry) -> io::Result<()> {
        self.trace.push(entry).map_err(unwritten)
    }

    /// Pushes what says which descriptors and folders there are.
    fn push_followed(&mut self, entry: Entry) -> io::Result<Option<Arc<[u8]>>> {
        let followed = self.follower.follow(&entry);
        self.push(entry)?;
        Ok(followed.and_then(|followed| followed.path))
    }

    fn called(&mut self, raw_call: &RawCall<'_>) -> io::Result<()> {
        let Some(row) = raw_call.row() else { return Ok(()) };
        if self.becoming.is_some() || self.foreign.contains(&raw_call.thread) {
            return Ok(());
        }
        let Outcome::Recorded(_) = row.what else {
            self.count(row, raw_call);
            return Ok(());
        };
        let mut paths = [None, None];
        for (path, (id, role)) in [raw_call.path, raw_call.to]
            .into_iter()
            .zip(paths.iter_mut().zip([Role::Path, Role::To]))
        {
            let at = row.find(|of| of == role);
            match path {
                // Empty is the descriptor itself (`AT_EMPTY_PATH`), or refused.
                Some(path) if !path.is_empty() => *id = Some(self.path(path)?),
                None if at.is_some_and(|at| raw_call.arguments[at] != 0) => {
                    self.count_unseen(Unseen::Paths, 1);
                }
                _ => {}
            }
        }
        let Some(mut call) = raw_call.call(row, self.origin_ns, paths) else { return Ok(()) };
        self.calls += 1;
        if call.op == Op::Msync {
            call.path = self.mapped_at(call.thread, raw_call.arguments[0])?;
        }
        if call.op == Op::Map {
            return self.maps(call);
        }
        if leaves_descriptors(&call) {
            return self.push(Entry::Call(call));
        }
        match self.push_followed(Entry::Call(call))? {
            Some(path) if self.files.is_new(&call, &path) => self.look(call.thread, &path),
            _ => Ok(()),
        }
    }

    /// A call that maps a file.
    fn maps(&mut self, call: Call) -> io::Result<()> {
        self.push(Entry::Call(call))?;
        let followed = self.follower.follow(&Entry::Call(call));
        let path = followed.as_ref().and_then(|followed| followed.about.as_ref());
        if let (Some(path), false) = (path, call.failed()) {
            let process = self.process(call.thread);
            self.mapped.map(process, call.result.cast_unsigned(), call.length, path);
            if self.sees.faults {
                self.mapped.number(path);
            }
        }
        Ok(())
    }

    /// The file that is mapped at an address.
    fn mapped_at(&mut self, thread: u32, address: u64) -> io::Result<Option<PathId>> {
        let process = self.process(thread);
        let path = self.mapped.at(process, address).cloned();
        path.filter(|path| !mapped::is_of_memory(path)).map(|path| self.path(&path)).transpose()
    }

    fn faulted(&mut self, fault: &Fault) -> io::Result<()> {
        let is_memory = fault.file.is_some_and(|file| self.mapped.is_memory(file));
        if self.becoming.is_some() || is_memory {
            return Ok(());
        }
        let path = match fault.file {
            Some(file) => {
                let process = self.process(fault.call.thread);
                let path = self.mapped.mapped(process, file);
                path.map(|path| self.path(&path)).transpose()?
            }
            // Memory that is no file's was written to.
            None => match self.mapped_at(fault.call.thread, fault.address)? {
                None => return Ok(()),
                path => path,
            },
        };
        self.push_kernel_work(fault.call, path)
    }

    fn ring_done(&mut self, done: &RingDone) -> io::Result<()> {
        if self.becoming.is_some() {
            return Ok(());
        }
        let call = done.call;
        let is_named = call.op == Op::RingOther || call.fd != NO_FD;
        let process = self.process(call.thread);
        let path = if is_named { None } else { self.mapped.open(process, done.file) };
        let path = path.map(|path| self.path(&path)).transpose()?;
        self.push_kernel_work(call, path)
    }

    fn push_kernel_work(&mut self, call: Call, path: Option<PathId>) -> io::Result<()> {
        let began_ns = self.since_origin(call.began_ns);
        self.push(Entry::Call(Call { began_ns, path, ..call }))
    }

    fn count(&mut self, row: &Row, raw_call: &RawCall<'_>) {
        if let Outcome::Unseen(kind) = row.what {
            // Both calls that hand in several operations return how many.
            let many = matches!(kind, Unseen::IoUring | Unseen::Calls);
            if kind == Unseen::IoUring && self.sees.rings {
                return;
            }
            let count =
                if many { raw_call.result.max(0) as u64 } else { u64::from(raw_call.result >= 0) };
            self.count_unseen(kind, count);
        }
    }

    /// Programs that write to the recorder's memory may claim any number.
    fn count_unseen(&mut self, kind: Unseen, count: u64) {
        let sum = &mut self.unseen[kind as usize];
        *sum = sum.saturating_add(count);
    }

    fn look(&mut self, thread: u32, path: &[u8]) -> io::Result<()> {
        let fits = |found: &ResolvedPath| found.path.as_os_str().len() < PATH_BYTES;
        let has_mounts = self.unseen[Unseen::Namespaces as usize] > 0;
        let thread = has_mounts.then_some(thread);
        for found in files::look(thread, path, self.began).into_iter().filter(fits) {
            let entry = self.facts(&found)?;
            self.push(Entry::File(entry))?;
        }
        Ok(())
    }

    fn facts(&mut self, found: &ResolvedPath) -> io::Result<FileFacts> {
        let bytes_of = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let path = self.path(&bytes_of(&found.path))?;
        let target = found.target.as_deref().map(bytes_of);
        let target = target.map(|target| self.path(&target)).transpose()?;
        let at_ns = self.elapsed_ns();
        let mut entry = FileFacts { at_ns, path, kind: found.kind, target, ..FileFacts::default() };
        if let Some(facts) = found.facts {
            entry.bytes = facts.stx_size;
            entry.device = makedev(facts.stx_dev_major, facts.stx_dev_minor);
            entry.inode = facts.stx_ino;
            entry.mode = u32::from(facts.stx_mode) & 0o7777;
        }
        if found.kind == FileKind::Regular && self.samples.len() < SAMPLES_MAX {
            self.samples.push((found.path.clone(), entry));
        }
        Ok(entry)
    }

    /// Adds an entry that has a time of `CLOCK_MONOTONIC`.
    fn told(&mut self, mut entry: Entry) -> io::Result<()> {
        match &mut entry {
            Entry::Fork { at_ns, parent, child, thread, .. } => {
                *at_ns = self.since_origin(*at_ns);
                self.forked(*parent, *child, *thread);
            }
            Entry::Exit { at_ns, thread, .. } => {
                *at_ns = self.since_origin(*at_ns);
                self.ended(*at_ns, *thread);
            }
            Entry::Idle { at_ns, took_ns } => {
                // Before the recording began, it is no part of it.
                let ended_ns = self.since_origin(at_ns.saturating_add(*took_ns));
                *at_ns = self.since_origin(*at_ns);
                *took_ns = ended_ns - *at_ns;
                if self.becoming.is_some() || *took_ns == 0 {
                    return Ok(());
                }
            }
            Entry::Lost { count } => self.lost = self.lost.saturating_add(*count),
            Entry::Unseen { kind, count } => {
                self.count_unseen(*kind, *count);
                return Ok(());
            }
            _ => {}
        }
        self.push_followed(entry).map(drop)
    }

    fn forked(&mut self, parent: u32, child: u32, is_thread: bool) {
        if self.foreign.contains(&parent) {
            self.foreign.insert(child);
        }
        if !is_thread {
            self.living.insert(child);
            self.mapped.forked(self.process(parent), child);
        }
    }

    fn ended(&mut self, at_ns: u64, thread: u32) {
        self.foreign.remove(&thread);
        self.living.remove(&thread);
        self.mapped.forget(thread);
        if self.first == Some(thread) {
            self.ended_ns = Some(at_ns);
        }
    }

    fn woken(&mut self, woken: &Woken) -> io::Result<()> {
        if self.becoming.is_some() || table::wakes_nobody(woken.call) {
            return Ok(());
        }
        let is_followed = |process| self.follower.process(process).is_some();
        if !is_followed(woken.by) && !self.outside.meet(woken.by, is_followed) {
            return Ok(());
        }
        self.push(Entry::Woken {
            at_ns: self.since_origin(woken.at_ns),
            thread: woken.thread,
            by: woken.by,
            slept_ns: woken.at_ns.saturating_sub(woken.since_ns),
        })
    }

    fn executed(&mut self, at_ns: u64, thread: u32, program: &[u8]) -> io::Result<()> {
        if self.becoming == Some(thread) {
            // It took milliseconds to become it, of a process as large as this one.
            self.origin_ns = at_ns;
            self.becoming = None;
        }
        self.mapped.forget(thread);
        self.foreign.remove(&thread);
        if is_foreign(thread, program) {
            self.foreign.insert(thread);
            self.count_unseen(Unseen::Programs, 1);
        }
        let program = if program.is_empty() { None } else { Some(self.path(program)?) };
        let at_ns = self.since_origin(at_ns);
        self.push_followed(Entry::Exec { at_ns, thread, program }).map(drop)
    }
}

impl<W: Write> Sink for Recording<W> {
    fn idle(&mut self) -> io::Result<()> {
        self.trace.flush().map_err(unwritten)
    }

    fn on_event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Called(raw_call) => self.called(raw_call),
            Event::Executed { at_ns, thread, program } => self.executed(*at_ns, *thread, program),
            Event::Woken(woken) => self.woken(woken),
            Event::Faulted(fault) => self.faulted(fault),
            Event::RingDone(done) => self.ring_done(done),
            Event::Entry(entry) => self.told(entry.clone()),
        }
    }
}

/// Why nothing more can be written.
pub(crate) fn unwritten(error: trace::Error) -> io::Error {
    match error {
        trace::Error::Write(error) => error,
        error => io::Error::other(error),
    }
}
