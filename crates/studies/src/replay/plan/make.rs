//! Makes a program of a recording: what happened, in its order, becomes steps of threads.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;

use trace::{Call, FileKind, OverheadNs};

use super::initial_state::{File, FileNumber, InitialState, Initially};
use super::matters;
use super::order::{Object, Order, StepOf, ThreadNumber, Use};
use super::paths::{below, harmless_target, is_safe};
use super::program::{Act, Facts, Initial, InitialKind, Kind, PathNumber, Program, Slot, fill_of};
use super::recording::{Event, EventKind, Looked, OpenNumber, Other, Recorded, Recording};
use super::replay_threads::{computing, replay_threads};
use super::shortest::shortest;
use super::threads::{Overhead, Threads};

/// More files and folders than this are not made for each slice.
const INITIAL_MAX: usize = 200_000;

/// Makes the program of all calls below a folder.
///
/// # Errors
/// In words, where there is nothing to replay.
pub(crate) fn program(recording: &Recording, folder: &[u8]) -> Result<Program, String> {
    let mut builder = PlanBuilder::new(recording, folder);
    builder.open_inherited();
    for event in &recording.events {
        builder.event(*event);
    }
    if builder.facts.calls == 0 {
        return Err(format!(
            "no call of the recording is in {}; name a folder whose files the program used, as in \
             --set replay.folder=/var/lib/app",
            String::from_utf8_lossy(folder)
        ));
    }
    builder.finish()
}

/// What a call that is under way will be.
#[derive(Debug, Default)]
pub(super) struct Planned {
    /// What is replayed of it, if anything is.
    pub(super) act: Option<Act>,
    /// What it meets other threads at.
    pub(super) uses: Vec<(Object, Use)>,
    /// What it comes after.
    pub(super) after: Vec<StepOf>,
}

/// A file or folder that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) slot: Slot,
    /// None of a folder.
    pub(super) file: Option<FileNumber>,
    pub(super) path: PathNumber,
}

/// A program that is being made.
pub(super) struct PlanBuilder<'r> {
    pub(super) recording: &'r Recording,
    folder: Vec<u8>,
    pub(super) before: InitialState,
    pub(super) threads: Threads,
    pub(super) facts: Facts,
    /// Open files below the folder.
    pub(super) open: HashMap<OpenNumber, Open>,
    pub(super) order: Order,
    /// Whether there are several threads at all.
    pub(super) is_ordered: bool,
    pub(super) under_way: HashMap<u32, Planned>,
    /// When something was last read from each pipe, and by which step.
    pub(super) emptied: HashMap<OpenNumber, (u64, StepOf)>,
    /// Those below the folder.
    paths: Vec<CString>,
    path_numbers: HashMap<Vec<u8>, PathNumber>,
    slots: Slot,
    /// Processes that take locks.
    pub(super) lockers: HashSet<u32>,
    /// What was open before.
    pub(super) opened: Vec<Act>,
    /// Calls that are replayed and under way, and since when there are any.
    busy: (u64, u64),
    /// Overhead within calls that are replayed.
    within_ns: i64,
}

impl<'r> PlanBuilder<'r> {
    fn new(recording: &'r Recording, folder: &[u8]) -> Self {
        Self {
            recording,
            folder: folder.to_vec(),
            before: InitialState::new(),
            threads: Threads::default(),
            facts: Facts::default(),
            open: HashMap::new(),
            order: Order::default(),
            is_ordered: recording.threads > 1,
            under_way: HashMap::new(),
            emptied: HashMap::new(),
            paths: Vec::new(),
            path_numbers: HashMap::new(),
            slots: 0,
            lockers: HashSet::new(),
            opened: Vec::new(),
            busy: (0, 0),
            within_ns: 0,
        }
    }

    fn event(&mut self, event: Event) {
        match event.what {
            EventKind::Begins(number) => {
                let recorded = self.recording.calls[number as usize];
                self.begins(&recorded);
            }
            EventKind::Ends(number) => {
                let recorded = self.recording.calls[number as usize];
                self.ends(&recorded, event.what);
            }
            EventKind::Other(number) => {
                self.other(self.recording.others[number as usize], event);
            }
        }
    }

    fn begins(&mut self, recorded: &Recorded) {
        let call = &recorded.call;
        let thread = self.threads.number(call.thread, call.began_ns);
        let mut planned = self.planned(recorded);
        if planned.act.is_some() {
            if self.busy.0 == 0 {
                self.busy.1 = call.began_ns;
            }
            self.busy.0 += 1;
        }
        if self.is_ordered {
            self.order.before(thread, &planned.uses, &mut planned.after);
            if let Some(pipe) = self.pipe(recorded, true) {
                let step = self.threads.pass(thread, call.began_ns);
                self.order.after(step, &[(Object::Pipe(pipe), Use::Alone)]);
            }
        }
        self.under_way.insert(call.thread, planned);
    }

    fn ends(&mut self, recorded: &Recorded, event: EventKind) {
        let call = &recorded.call;
        let Some(planned) = self.under_way.remove(&call.thread) else { return };
        let thread = self.threads.number(call.thread, call.began_ns);
        let act = self.take_effect(recorded, planned.act, event);
        if planned.act.is_some() {
            self.busy.0 -= 1;
            if self.busy.0 == 0 {
                self.facts.files_ns += call.ended_ns().saturating_sub(self.busy.1);
            }
        }
        let Some(act) = act else {
            self.waited(recorded, thread);
            self.threads.skip(thread, self.overhead(call));
            self.closed(thread, call.ended_ns(), event);
            return;
        };
        self.facts.calls += 1;
        self.within_ns += self.recording.header.overhead_within(call).low;
        let mut uses = planned.uses;
        if let Act::Lock { .. } | Act::Flock { .. } = act {
            self.wait_for_lock(recorded, thread, &uses);
        }
        let span = [call.began_ns.max(self.threads.get_mut(thread).ended_ns()), call.ended_ns()];
        let span = (span, self.overhead(call));
        let step = self.threads.call(thread, span, (act, call.result), &planned.after);
        if act.kind() != Some(Kind::Lock) {
            self.threads.waited(step, call.waited_ns);
        }
        if self.is_ordered {
            uses.extend(recorded.made.map(|made| (Object::Open(made), Use::Alone)));
            self.order.after(step, &uses);
        }
    }

    /// What recording a call cost, as likely as not.
    fn overhead(&self, call: &Call) -> Overhead {
        let header = &self.recording.header;
        let [call_ns, within_ns] =
            [header.overhead_of(call), header.overhead_within(call)].map(OverheadNs::middle);
        Overhead { call_ns, around_ns: (call_ns - within_ns).max(0) }
    }

    /// Where a lock had to wait, it goes after what gave it free.
    fn wait_for_lock(
        &mut self,
        Recorded { call, .. }: &Recorded,
        thread: ThreadNumber,
        uses: &[(Object, Use)],
    ) {
        let mut after = Vec::new();
        if self.is_ordered && !call.failed() {
            self.order.before(thread, uses, &mut after);
        }
        if !after.is_empty() {
            self.threads.pass(thread, call.began_ns);
            self.threads.woken(thread, call.ended_ns() - 1, &after);
        }
    }

    fn other(&mut self, other: Other, Event { at_ns, what: event }: Event) {
        match other {
            Other::Fork { parent, child, thread } => {
                let maker = self.threads.find(parent);
                self.threads.forget(child);
                let made = self.threads.number(child, at_ns);
                self.threads.get_mut(made).is_leader = !thread;
                if let Some(maker) = maker {
                    let step = self.threads.pass(maker, at_ns);
                    self.threads.begins_after(made, step);
                }
            }
            Other::Exec { thread } | Other::Exit { thread, .. } => {
                let Some(number) = self.threads.find(thread) else { return };
                self.closed(number, at_ns, event);
                self.threads.pass(number, at_ns);
                if let Other::Exit { user_ns, system_ns, .. } = other {
                    let own = self.threads.get_mut(number);
                    own.cpu_ns = (user_ns + system_ns > 0).then_some([user_ns, system_ns]);
                    own.ended = true;
                }
            }
            Other::Woken { thread, by, since_ns } => self.woken(thread, by, [since_ns, at_ns]),
            Other::Looked(Looked { path, kind, bytes, compressed, mode, target }) => {
                let Some(path) = self.inside(path) else { return };
                match kind {
                    FileKind::Regular => {
                        let number = self.before.file_exists_or_made(&path);
                        let file = self.before.file(number);
                        file.size.is(bytes);
                        file.compressed = compressed.or(file.compressed);
                        file.mode.get_or_insert(mode);
                    }
                    FileKind::Folder => self.before.folder_exists(&path),
                    FileKind::Link => {
                        let says = target.map(|target| self.recording.path(target));
                        self.before.link_exists(&path, says.unwrap_or_default().to_vec());
                    }
                    _ => {}
                }
            }
        }
    }

    /// What something closes that is not a close; nobody saw that take any time.
    fn closed(&mut self, thread: ThreadNumber, at_ns: u64, event: EventKind) {
        let recording = self.recording;
        for number in recording.closed.get(&event).into_iter().flatten() {
            if let Some(Open { slot, .. }) = self.open.remove(number) {
                let mut after = Vec::new();
                if self.is_ordered {
                    let uses = [(Object::Open(*number), Use::Alone)];
                    self.order.before(thread, &uses, &mut after);
                }
                let began_ns = self.threads.get_mut(thread).ended_ns().max(at_ns);
                let act = (Act::Close { slot }, 0);
                self.threads.call(thread, ([began_ns; 2], Overhead::default()), act, &after);
                self.forget(*number);
            } else if let Some(pipe) = recording.pipes.get(number).and_then(|ends| ends.written)
                && self.is_ordered
            {
                let step = self.threads.pass(thread, at_ns);
                self.order.after(step, &[(Object::Pipe(pipe), Use::Alone)]);
            }
        }
    }

    /// Nobody uses an open file any more.
    pub(super) fn forget(&mut self, number: OpenNumber) {
        self.order.forget(Object::Open(number));
        self.order.forget(Object::Position(number));
    }

    /// A path below the folder, as it is called there.
    pub(super) fn inside(&self, path: PathNumber) -> Option<Vec<u8>> {
        let path = below(&self.folder, self.recording.path(path))?;
        is_safe(path).then(|| path.to_vec())
    }

    /// A path's number.
    pub(super) fn path_number(&mut self, path: &[u8]) -> PathNumber {
        if let Some(number) = self.path_numbers.get(path) {
            return *number;
        }
        let number = self.paths.len() as PathNumber;
        let text = if path.is_empty() { b"." } else { path };
        self.paths.push(CString::new(text).unwrap_or_else(|_| unreachable!("paths are safe")));
        self.path_numbers.insert(path.to_vec(), number);
        number
    }

    /// The path of a number, as it is called below the folder.
    pub(super) fn path(&self, number: PathNumber) -> &[u8] {
        match self.paths[number as usize].as_bytes() {
            b"." => b"",
            path => path,
        }
    }

    pub(super) fn new_slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    fn finish(mut self) -> Result<Program, String> {
        let recording = self.recording;
        let ended: Vec<bool> = self.threads.all_mut().iter().map(|thread| thread.ended).collect();
        for number in 0..self.threads.all_mut().len() {
            if !self.threads.get_mut(number).ended {
                self.threads.pass(number, recording.until_ns);
            }
        }
        self.finish_facts();
        let (was, files) = std::mem::replace(&mut self.before, InitialState::new()).found();
        if was.len() > INITIAL_MAX {
            return Err(format!(
                "the recorded program used {} files and folders that were there before, and no \
                 more than {INITIAL_MAX} are made for each slice; replay less of it, by \
                 replay.until or replay.folder",
                was.len()
            ));
        }
        let mut initial = Vec::with_capacity(was.len());
        for (path, was) in was {
            let what = match was {
                Initially::Folder => InitialKind::Folder,
                Initially::File(number) => file_before(&files[number]),
                Initially::Link { says } => {
                    let says = CString::new(harmless_target(&says)).unwrap_or_default();
                    InitialKind::Link { says }
                }
            };
            initial.push(Initial { path: self.path_number(&path), what });
        }
        let alone = self.lockers.len() <= 1;
        let mut threads = std::mem::take(&mut self.threads).into_all();
        for step in threads.iter_mut().flat_map(|thread| &mut thread.steps) {
            finish_step(&mut step.act, alone, &files);
        }
        let cpu_ns = recording.summary.user_ns + recording.summary.system_ns;
        let computing = computing(&threads, cpu_ns);
        let is_whole = |number: usize| recording.header.attached || ended[number] && number == 0;
        matters::wait_with_others(&mut threads, &computing);
        matters::cut(&mut threads, is_whole);
        self.facts.shortest = shortest(&threads, &computing);
        let (replay_threads, signals) = replay_threads(threads, &computing)?;
        Ok(Program {
            replay_threads,
            paths: self.paths,
            slots: self.slots as usize,
            signals,
            initial,
            opened: self.opened,
            facts: self.facts,
        })
    }

    fn finish_facts(&mut self) {
        let Recording { summary, until_ns, .. } = self.recording;
        let recorded_ns = summary.wall_ns.max(*until_ns);
        let busiest = self.threads.all_mut().iter().map(|thread| thread.overhead_ns).max();
        let overhead_ns = busiest.unwrap_or_default().max(0).unsigned_abs();
        self.facts.recorded_ns = recorded_ns.saturating_sub(overhead_ns);
        self.facts.stretch_ns = until_ns.saturating_sub(overhead_ns);
        self.facts.sees_wakers = self.recording.header.sees_wakers;
        self.facts.not_replayed = self.recording.not_replayed;
        let files_ns = self.facts.files_ns.saturating_add_signed(-self.within_ns);
        self.facts.files_ns = files_ns.min(self.facts.stretch_ns);
    }
}

fn file_before(known: &File) -> InitialKind {
    let (bytes, fill) = (known.size.before(), fill_of(known.compressed));
    InitialKind::File { bytes, fill, mode: known.mode.unwrap_or(0o600) | 0o600 }
}

/// What could be told only when all had been seen: what writes are made of, and whose locks are.
fn finish_step(act: &mut Act, alone: bool, files: &[File]) {
    match act {
        Act::Write { fill, file, .. } => *fill = fill_of(files[*file as usize].compressed),
        Act::Lock { own, .. } => *own &= alone,
        _ => {}
    }
}
