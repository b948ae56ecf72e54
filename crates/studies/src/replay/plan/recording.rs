//! A trace, read and checked, with what each call acted on, in the order in which things
//! happened.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::{Arc, Weak};
use std::time::Duration;

use trace::{
    Call, Entry, FileKind, Followed, Follower, Header, OpenFile, OpenKind, PathId, Place, Summary,
    TraceReader, Unseen, WORKING_FOLDER,
};
use units::{count, counted};

use super::not_replayed::{NotReplayed, maps_to_write};
use super::program::PathNumber;

/// More calls than this are not replayed in one go: what is known of each takes some 300 bytes
/// while the program is made, and 70 as long as an arm has it.
const CALLS_MAX: usize = 1_000_000;
/// Nor are more bytes of paths.
const PATH_BYTES_MAX: usize = 64 << 20;

/// What a trace says of the stretch that is replayed.
pub(crate) struct Recording {
    pub(crate) header: Header,
    pub(crate) summary: Summary,
    /// When the stretch ends; the recording may go on.
    pub(crate) until_ns: u64,
    /// What happens, in order of time.
    pub(crate) events: Vec<Event>,
    pub(crate) calls: Vec<Recorded>,
    pub(crate) others: Vec<Other>,
    /// The open files that something closed for good, by which they are gone.
    pub(crate) closed: HashMap<EventKind, Vec<OpenNumber>>,
    /// The ends of pipes and of socket pairs.
    pub(crate) pipes: HashMap<OpenNumber, Ends>,
    /// What was open before, in the order in which it was used first.
    pub(crate) inherited: HashMap<OpenNumber, Inherited>,
    pub(crate) not_replayed: NotReplayed,
    paths: Vec<Arc<[u8]>>,
    /// What paths were found to be, if anyone looked.
    kinds: HashMap<PathNumber, FileKind>,
    /// Where the recorded command was started.
    pub(crate) began_in: Option<PathNumber>,
    /// How many threads made calls.
    pub(crate) threads: usize,
}

/// An open file's number: copies of a descriptor stand for one.
pub(crate) type OpenNumber = u32;

/// A call, with what it acted on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    pub(crate) call: Call,
    pub(crate) process: u32,
    pub(crate) file: Option<OpenNumber>,
    pub(crate) other: Option<OpenNumber>,
    /// What it opened.
    pub(crate) made: Option<OpenNumber>,
    /// The paths that it named.
    pub(crate) path: Option<PathNumber>,
    pub(crate) to: Option<PathNumber>,
    /// Where it read or wrote.
    pub(crate) place: Place,
}

/// Something else than a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Other {
    // The child is a thread of the parent's process, or a process.
    Fork { parent: u32, child: u32, thread: bool },
    Exec { thread: u32 },
    Exit { thread: u32, user_ns: u64, system_ns: u64 },
    // A thread that had slept since then was woken by another.
    Woken { thread: u32, by: u32, since_ns: u64 },
    // What a path was found to be.
    Looked(Looked),
}

/// What was found at a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    pub(crate) path: PathNumber,
    pub(crate) kind: FileKind,
    pub(crate) bytes: u64,
    /// How much of it is left when it is compressed, from 0 to 1.
    pub(crate) compressed: Option<f32>,
    /// Permissions.
    pub(crate) mode: u16,
    pub(crate) target: Option<PathNumber>,
}

/// What is read from an open file and written to it, each by the open file that it is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) read: Option<OpenNumber>,
    pub(crate) written: Option<OpenNumber>,
}

/// A file that was open before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inherited {
    pub(crate) path: PathNumber,
    pub(crate) flags: u64,
    pub(crate) position: u64,
}

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) at_ns: u64,
    pub(crate) what: EventKind,
}

/// What happens, each by its place among calls or others. At one time, what ends comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum EventKind {
    Ends(u32),
    Other(u32),
    Begins(u32),
}

impl Recording {
    /// What a trace has up to a time.
    ///
    /// # Errors
    /// In words that begin with the trace's name, where it cannot be replayed.
    pub(crate) fn of_trace(trace: impl Read, shown: &str, until: Duration) -> Result<Self, String> {
        let read = TraceReader::new(trace).and_then(|mut reader| {
            let all = Gathered::all(&mut reader, until.as_nanos() as u64)?;
            Ok((reader, all))
        });
        let (reader, all) =
            read.map_err(|e| format!("{shown} cannot be replayed: {e}; record it again"))?;
        if reader.lost() > 0 {
            return Err(format!(
                "{shown} lacks {} entries that the recorder could not keep up with, and what is \
                 missing cannot be replayed; record it again, with less else running",
                count(reader.lost())
            ));
        }
        if all.unseen_programs > 0 {
            return Err(format!(
                "{shown} lacks what {} did that could not be followed, as static ones and those with \
                 rights of their own; record it again as root, or by --mechanism ptrace",
                counted(all.unseen_programs, "program")
            ));
        }
        let Some(summary) = reader.summary().copied() else {
            return Err(format!(
                "{shown} was cut short: the recorder was killed, or its disk was full; it can be \
                 shown, but not replayed, so record it again"
            ));
        };
        if all.calls.is_empty() {
            return Err(format!("{shown} has no file calls, so there is nothing to replay"));
        }
        Ok(all.into_recording(reader.header().clone(), summary))
    }

    /// A path, absolute where that is known.
    pub(crate) fn path(&self, number: PathNumber) -> &[u8] {
        &self.paths[number as usize]
    }

    /// What a path was found to be, if anyone looked.
    pub(crate) fn kind(&self, number: PathNumber) -> Option<FileKind> {
        self.kinds.get(&number).copied()
    }
}

/// What has been read so far.
#[derive(Default)]
struct Gathered {
    follower: Follower,
    calls: Vec<Recorded>,
    others: Vec<(u64, Other)>,
    closed: HashMap<EventKind, Vec<OpenNumber>>,
    pipes: HashMap<OpenNumber, Ends>,
    inherited: HashMap<OpenNumber, Inherited>,
    /// What is open.
    open: HashMap<OpenNumber, Weak<OpenFile>>,
    /// Paths, and their numbers.
    paths: Vec<Arc<[u8]>>,
    numbers: HashMap<Arc<[u8]>, PathNumber>,
    path_bytes: usize,
    kinds: HashMap<PathNumber, FileKind>,
    /// Who used a path last.
    users: HashMap<PathId, u32>,
    began_in: Option<PathNumber>,
    unseen_programs: u64,
    not_replayed: NotReplayed,
    /// Files that were mapped to be written to.
    mapped: HashSet<Arc<[u8]>>,
    until_ns: u64,
    /// The latest time that was met.
    at_ns: u64,
}

impl Gathered {
    /// Reads all entries, and keeps those of the stretch.
    fn all(reader: &mut TraceReader<impl Read>, until_ns: u64) -> Result<Self, trace::Error> {
        let mut all = Self { until_ns, ..Self::default() };
        while let Some(entry) = reader.next_entry()? {
            all.take(&entry);
        }
        Ok(all)
    }

    fn take(&mut self, entry: &Entry) {
        if let Entry::Unseen { kind, count } = entry {
            self.not_replayed.unseen(*kind, *count);
            if *kind == Unseen::Programs {
                self.unseen_programs = self.unseen_programs.saturating_add(*count);
            }
        }
        let is_full = self.calls.len() >= CALLS_MAX
            || self.others.len() >= CALLS_MAX
            || self.path_bytes >= PATH_BYTES_MAX;
        if is_full {
            if let Entry::Call(call) = entry {
                self.until_ns = self.until_ns.min(call.began_ns);
            }
            return;
        }
        let followed = self.follower.follow(entry);
        match entry {
            Entry::Call(call) => {
                let file = followed.as_ref().and_then(|followed| followed.about.as_ref());
                self.not_replayed.call(call, file.is_some_and(|file| self.mapped.contains(file)));
                if maps_to_write(call) {
                    self.mapped.extend(file.cloned());
                }
                if let Some(followed) = followed.filter(|_| call.op.is_call()) {
                    self.call(call, followed);
                }
            }
            &Entry::Fork { at_ns, parent, child, thread, .. } => {
                self.other(at_ns, Other::Fork { parent, child, thread });
            }
            Entry::Exec { at_ns, thread, .. } => {
                self.other(*at_ns, Other::Exec { thread: *thread });
                self.look_for_closed(EventKind::Other(self.others.len() as u32 - 1));
            }
            &Entry::Exit { at_ns, thread, user_ns, system_ns, .. } => {
                self.other(at_ns, Other::Exit { thread, user_ns, system_ns });
                self.look_for_closed(EventKind::Other(self.others.len() as u32 - 1));
            }
            &Entry::Woken { at_ns, thread, by, slept_ns } => {
                let since_ns = at_ns.saturating_sub(slept_ns);
                self.other(at_ns, Other::Woken { thread, by, since_ns });
            }
            Entry::File(facts) => self.looked(facts),
            Entry::Inherited { fd: WORKING_FOLDER, path, .. } if self.began_in.is_none() => {
                self.began_in = self.follower.path(*path).cloned().map(|path| self.number(path));
            }
            _ => {}
        }
    }

    fn other(&mut self, at_ns: u64, other: Other) {
        self.at_ns = self.at_ns.max(at_ns);
        self.others.push((at_ns, other));
    }

    fn looked(&mut self, facts: &trace::FileFacts) {
        let thread = self.users.get(&facts.path).copied().unwrap_or_default();
        let Some(path) = self.follower.absolute(thread, facts.path) else { return };
        let path = self.number(path);
        self.kinds.entry(path).or_insert(facts.kind);
        let target = facts.target.and_then(|target| self.follower.path(target).cloned());
        let target = target.map(|target| self.number(target));
        let compressed = (facts.sample_bytes > 0)
            .then(|| (facts.compressed_bytes as f32 / facts.sample_bytes as f32).clamp(0.0, 1.0));
        let (kind, bytes, mode) = (facts.kind, facts.bytes, (facts.mode & 0o777) as u16);
        // The program may have ended by then: this does not prolong it.
        let looked = Other::Looked(Looked { path, kind, bytes, compressed, mode, target });
        self.others.push((facts.at_ns, looked));
    }

    fn call(&mut self, call: &Call, followed: Followed) {
        let number = |file: &Option<Arc<OpenFile>>| file.as_ref().map(|file| file.number as u32);
        let (file, other) = (number(&followed.file), number(&followed.other));
        let [made, end] = [number(&followed.made[0]), number(&followed.made[1])];
        for id in [call.path, call.to].into_iter().flatten() {
            self.users.insert(id, call.thread);
        }
        for open in followed.file.iter().chain(&followed.other) {
            self.was_open(open, call, followed.place);
        }
        for open in followed.made.iter().flatten() {
            self.open.insert(open.number as u32, Arc::downgrade(open));
        }
        if let (Some(one), Some(other)) = (made, end) {
            let goes_both_ways = call.op == trace::Op::Socketpair;
            let back = goes_both_ways.then_some(other);
            self.pipes.insert(one, Ends { read: Some(one), written: back });
            self.pipes.insert(other, Ends { read: back, written: Some(one) });
        }
        // One that is empty means the descriptor beside it.
        let is_named = call
            .path
            .and_then(|id| self.follower.path(id))
            .is_some_and(|path| !path.is_empty() || followed.file.is_none());
        let Followed { process, file: on, other: beside, made: opened, path, to, place, .. } =
            followed;
        // What nothing else stands for is closed.
        drop((on, beside, opened));
        let path = path.filter(|_| is_named).map(|path| self.number(path));
        let to = to.map(|path| self.number(path));
        self.at_ns = self.at_ns.max(call.ended_ns());
        self.calls.push(Recorded { call: *call, process, file, other, made, path, to, place });
        let event = EventKind::Ends(self.calls.len() as u32 - 1);
        match call.op {
            trace::Op::Close => {
                let is_gone = |open: &Weak<OpenFile>| open.strong_count() == 0;
                if let Some(file) = file.filter(|file| self.open.get(file).is_some_and(is_gone)) {
                    self.open.remove(&file);
                    self.closed.insert(event, vec![file]);
                }
            }
            trace::Op::CloseRange | trace::Op::Duplicate => self.look_for_closed(event),
            _ => {}
        }
    }

    /// An open file is used, which may have been open before.
    fn was_open(&mut self, open: &Arc<OpenFile>, call: &Call, place: Place) {
        let number = open.number as u32;
        if self.open.contains_key(&number) {
            return;
        }
        self.open.insert(number, Arc::downgrade(open));
        if let (OpenKind::Named, Some(path)) = (open.kind, &open.path) {
            let position = match place {
                Place::At(at) if call.offset < 0 => at,
                _ => 0,
            };
            let path = self.number(Arc::clone(path));
            self.inherited.insert(number, Inherited { path, flags: open.flags, position });
        }
    }

    /// What nothing stands for any more was closed by this.
    fn look_for_closed(&mut self, event: EventKind) {
        let gone = self.open.extract_if(|_, open| open.strong_count() == 0);
        let mut gone: Vec<OpenNumber> = gone.map(|(number, _)| number).collect();
        if !gone.is_empty() {
            gone.sort_unstable();
            self.closed.insert(event, gone);
        }
    }

    fn number(&mut self, path: Arc<[u8]>) -> PathNumber {
        if let Some(number) = self.numbers.get(&path) {
            return *number;
        }
        let number = self.paths.len() as PathNumber;
        self.path_bytes += path.len();
        self.paths.push(Arc::clone(&path));
        self.numbers.insert(path, number);
        number
    }

    fn into_recording(mut self, header: Header, summary: Summary) -> Recording {
        let end_ns = summary.wall_ns.max(self.at_ns);
        let until_ns = self.until_ns.min(end_ns);
        let threads = one_after_the_other(&mut self.calls);
        let mut events = Vec::with_capacity(2 * self.calls.len() + self.others.len());
        for (number, Recorded { call, .. }) in (0..).zip(&self.calls) {
            if call.ended_ns() <= until_ns {
                events.push(Event { at_ns: call.began_ns, what: EventKind::Begins(number) });
                events.push(Event { at_ns: call.ended_ns(), what: EventKind::Ends(number) });
            }
        }
        for (number, (at_ns, _)) in (0..).zip(&self.others) {
            // A file may have been looked at after the end.
            let at_ns = end_ns.min(*at_ns);
            if at_ns <= until_ns {
                events.push(Event { at_ns, what: EventKind::Other(number) });
            }
        }
        events.sort_unstable_by_key(|event| (event.at_ns, event.what));
        Recording {
            header,
            summary,
            until_ns,
            events,
            calls: self.calls,
            others: self.others.into_iter().map(|(_, other)| other).collect(),
            closed: self.closed,
            pipes: self.pipes,
            inherited: self.inherited,
            not_replayed: self.not_replayed,
            paths: self.paths,
            kinds: self.kinds,
            began_in: self.began_in,
            threads,
        }
    }
}

/// Sees to it that each call takes some time, and that none of a thread begins before the one
/// before has ended, whatever the clocks of processors said; how many threads there are.
fn one_after_the_other(calls: &mut [Recorded]) -> usize {
    let mut ended: HashMap<u32, u64> = HashMap::new();
    for Recorded { call, .. } in calls {
        let before = ended.entry(call.thread).or_default();
        let end = call.ended_ns();
        call.began_ns = call.began_ns.max(*before);
        call.took_ns = end.saturating_sub(call.began_ns).max(1);
        *before = call.ended_ns();
    }
    ended.len()
}
