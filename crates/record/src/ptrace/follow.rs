//! Follows threads from stop to stop.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use host::clock::monotonic_ns;
use sys::ptrace::{self, CALL_STOP, EVENT_STOP, Standing};
use sys::wait::{Waited, read_memory, wait};
use trace::{Entry, OverheadNs, Unseen};

use super::stops::Stops;
use super::thread::{Counts, Memory, Thread, Within, program};
use crate::followed::Followed;
use crate::privileges;
use crate::raw_call::{Event, Sink};
use crate::table::{self, Outcome, Row};

/// How long threads are waited for that are to be let go. One that waits for a device stops
/// when that has answered; the kernel lets go of it when this process ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// Everything that is followed.
pub(super) struct Follower<'s, S: Sink> {
    sink: &'s mut S,
    threads: HashMap<u32, Thread>,
    /// New threads that stopped before the one that made them said so.
    early: HashSet<u32>,
    /// The command, or what is watched: its end is the end.
    first: u32,
    end: Option<Waited>,
    cut: Option<io::Error>,
    memory: Memory,
    keeps_rights: bool,
    stops: Stops,
    /// Whether the command has not become its program yet: what it does until then is ours.
    becoming: bool,
    began_ns: u64,
    /// For how long threads that have ended needed a processor …
    needed_ns: [u64; 2],
    /// … and those that are followed, before they were.
    needed_before_ns: [u64; 2],
    /// For how long this thread had needed one before.
    tracer_before_ns: u64,
    /// Whether any was stopped by a signal.
    was_stopped: bool,
}

/// How a stopped thread goes on.
enum Onward {
    Run(i32),
    /// It stays as it is.
    Stay,
    /// It was let go, or is not there any more.
    Gone,
}

impl<'s, S: Sink> Follower<'s, S> {
    /// `stop` is what a stop costs, as far as that is known.
    pub(super) fn new(sink: &'s mut S, first: u32, stop: OverheadNs) -> Self {
        Self {
            sink,
            threads: HashMap::new(),
            early: HashSet::new(),
            first,
            end: None,
            cut: None,
            memory: Memory::new(),
            keeps_rights: privileges::may_trace_them(),
            stops: Stops::new(stop),
            becoming: false,
            began_ns: monotonic_ns(),
            needed_ns: [0; 2],
            needed_before_ns: [0; 2],
            tracer_before_ns: Counts::own_needed_ns(),
            was_stopped: false,
        }
    }

    /// A command that is to become its program.
    pub(super) fn hold(&mut self, process: u32) {
        self.know(process, process);
        self.becoming = true;
    }

    /// A thread that this process has attached to.
    pub(super) fn attach(&mut self, thread: u32, process: u32) {
        self.know(thread, process);
        self.needed_before_ns = add(self.needed_before_ns, Counts::of(process, thread).needed_ns());
    }

    /// A thread that is followed.
    pub(super) fn know(&mut self, thread: u32, process: u32) {
        self.threads.insert(thread, Thread::of(process));
        self.stops.threads(self.threads.len());
    }

    pub(super) fn knows(&self, thread: u32) -> bool {
        self.threads.contains_key(&thread)
    }

    pub(super) fn knows_process(&self, process: u32) -> bool {
        self.threads.values().any(|thread| thread.process == process)
    }

    /// How the first ended, and why the recording ended before.
    pub(super) fn take(self) -> Followed {
        Followed { end: self.end, cut: self.cut }
    }

    /// Until the first ends, or nothing is left to follow, or it is time to stop, or nothing
    /// more can be recorded; then lets go of what is left.
    pub(super) fn follow(&mut self, stop: impl Fn() -> bool) -> io::Result<()> {
        while self.end.is_none() && self.cut.is_none() && !self.threads.is_empty() && !stop() {
            match wait(None, false) {
                Ok(Some(waited)) => self.on_event(waited),
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    self.cut = self.sink.idle().err();
                }
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
                Err(error) => return Err(error),
            }
        }
        self.tell_cost();
        self.tell_rest();
        self.let_go();
        Ok(())
    }

    /// What is left of the recorder's time, seen from the end. Of a program that was stopped by others,
    /// nobody knows.
    fn tell_rest(&mut self) {
        if self.was_stopped {
            return;
        }
        let now_ns = monotonic_ns();
        let mut needed_ns = self.needed_ns;
        for (thread, known) in &self.threads {
            needed_ns = add(needed_ns, Counts::of(known.process, *thread).needed_ns());
            if let Some(within) = &known.within {
                self.stops.waits(within.number.into(), now_ns.saturating_sub(within.began_ns));
            }
        }
        let before_ns = self.needed_before_ns;
        let needed_ns = [0, 1].map(|of| needed_ns[of].saturating_sub(before_ns[of]));
        let tracer_ns = Counts::own_needed_ns().saturating_sub(self.tracer_before_ns);
        let rest = self.stops.rest(now_ns.saturating_sub(self.began_ns), needed_ns, tracer_ns);
        self.tell(&Event::Entry(rest));
    }

    fn tell_cost(&mut self) {
        for cost in self.stops.measured() {
            self.tell(&Event::Entry(cost));
        }
        self.stops.threads(self.threads.len());
    }

    fn on_event(&mut self, waited: Waited) {
        let (thread, began_ns) = (waited.thread, monotonic_ns());
        if !libc::WIFSTOPPED(waited.status) {
            self.ended(waited);
            return;
        }
        if !self.knows(thread) {
            self.early.insert(thread);
            return;
        }
        match self.stopped(thread, waited.status) {
            // One that was killed meanwhile is seen to end.
            Onward::Run(signal) => drop(ptrace::go_on(thread, signal)),
            Onward::Stay => drop(ptrace::listen(thread)),
            Onward::Gone => {}
        }
        let until_ns = monotonic_ns();
        self.stops.handled([began_ns, until_ns]);
        if let Some(within) = self.threads.get_mut(&thread).and_then(|known| known.within.as_mut())
        {
            within.let_go_ns = until_ns;
        }
        if self.stops.are_enough() {
            self.tell_cost();
        }
    }

    fn stopped(&mut self, thread: u32, status: i32) -> Onward {
        let (event, signal) = (status >> 16, status >> 8 & 0xff);
        match event {
            0 if signal == CALL_STOP => return self.call(thread),
            0 => return Onward::Run(signal),
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                self.forked(thread, event);
            }
            libc::PTRACE_EVENT_EXEC => self.executed(thread),
            libc::PTRACE_EVENT_EXIT => {
                if let Some(known) = self.threads.get_mut(&thread) {
                    let counts = Counts::of(known.process, thread);
                    (known.used, known.needed_ns) = (counts.used(), counts.needed_ns());
                    known.ends_ns = Some(monotonic_ns());
                }
            }
            // Of itself, a thread stops so when it is new, or was interrupted.
            EVENT_STOP if signal != libc::SIGTRAP => {
                self.was_stopped = true;
                return Onward::Stay;
            }
            _ => {}
        }
        Onward::Run(0)
    }

    fn tell(&mut self, event: &Event<'_>) {
        if self.cut.is_none() {
            self.cut = self.sink.on_event(event).err();
        }
    }

    /// A call begins or returns.
    fn call(&mut self, thread: u32) -> Onward {
        let now_ns = monotonic_ns();
        let standing = match ptrace::standing(thread) {
            Ok(standing) => standing,
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Onward::Gone,
            Err(error) => {
                self.cut = Some(error);
                return Onward::Run(0);
            }
        };
        let Some(known) = self.threads.get_mut(&thread) else { return Onward::Run(0) };
        match standing {
            Standing::Enters { native, number, arguments } => {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                let within = Within { number, arguments, began_ns: now_ns, let_go_ns: now_ns };
                known.within = native.then_some(within);
                if !native {
                    self.stops.has_others();
                }
                if !self.keeps_rights && self.memory.becomes_privileged(thread, &within) {
                    return self.leave(thread);
                }
            }
            Standing::Leaves { result } => {
                let Some(within) = known.within.take() else { return Onward::Run(0) };
                let row = table::row(within.number);
                self.returned(within, now_ns, row);
                let Some(row) = row else { return Onward::Run(0) };
                let raw_call = self.memory.read(thread, row, within, now_ns, result);
                if self.cut.is_none() {
                    self.cut = self.sink.on_event(&Event::Called(raw_call)).err();
                }
            }
            Standing::Outside => {}
        }
        Onward::Run(0)
    }

    fn returned(&mut self, within: Within, now_ns: u64, row: Option<&Row>) {
        let is_recorded = row.is_some_and(|row| matches!(row.what, Outcome::Recorded(_)));
        let of_ns = [within.began_ns, within.let_go_ns].map(|since| now_ns.saturating_sub(since));
        self.stops.returned(within.number, of_ns, is_recorded);
    }

    /// Lets go of a thread that becomes a program with rights of its own, so that it has them.
    fn leave(&mut self, thread: u32) -> Onward {
        if ptrace::detach(thread, 0).is_ok() {
            self.threads.remove(&thread);
        }
        self.stops.has_others();
        self.tell(&Event::Entry(Entry::Unseen { kind: Unseen::Programs, count: 1 }));
        Onward::Gone
    }

    fn forked(&mut self, parent: u32, event: i32) {
        let Ok(child) = ptrace::message(parent) else { return };
        let (child, at_ns) = (child as u32, monotonic_ns());
        let Some(known) = self.threads.get(&parent).copied() else { return };
        let flags = known.within.map_or(0, |within| clone_flags(parent, &within)) as i32;
        let thread = event == libc::PTRACE_EVENT_CLONE && flags & libc::CLONE_THREAD != 0;
        self.know(child, if thread { known.process } else { child });
        self.tell(&Event::Entry(Entry::Fork {
            at_ns,
            parent,
            child,
            thread,
            shares_files: flags & libc::CLONE_FILES != 0,
            shares_folder: flags & libc::CLONE_FS != 0,
        }));
        if self.early.remove(&child) {
            // It stopped at its beginning.
            let _ = ptrace::go_on(child, 0);
        }
    }

    /// The command has become its program.
    fn begin(&mut self, process: u32) {
        self.began_ns = monotonic_ns();
        self.needed_before_ns = Counts::of(process, process).needed_ns();
        self.tracer_before_ns = Counts::own_needed_ns();
        self.stops.begin();
    }

    /// A process has another program. The thread that called has the process's number now, and
    /// the others are gone.
    fn executed(&mut self, process: u32) {
        self.threads.retain(|thread, known| known.process != process || *thread == process);
        self.know(process, process);
        if std::mem::take(&mut self.becoming) {
            self.begin(process);
        }
        let program = program(process);
        self.tell(&Event::Executed { at_ns: monotonic_ns(), thread: process, program: &program });
    }

    fn ended(&mut self, waited: Waited) {
        let thread = waited.thread;
        if self.first == thread {
            self.end = Some(waited);
        }
        self.early.remove(&thread);
        let Some(known) = self.threads.remove(&thread) else { return };
        let (user_ns, system_ns) = known.used;
        let (at_ns, status) = (monotonic_ns(), waited.status);
        // Its memory is given back meanwhile.
        let ending_ns = known.ends_ns.map_or(0, |since_ns| at_ns.saturating_sub(since_ns));
        self.needed_ns = add(add(self.needed_ns, known.needed_ns), [ending_ns; 2]);
        self.tell(&Event::Entry(Entry::Exit { at_ns, thread, status, user_ns, system_ns }));
    }

    /// Lets every thread go on as if nobody had followed it. It has to be stopped for that.
    fn let_go(&mut self) {
        for thread in self.early.drain() {
            let _ = ptrace::detach(thread, 0);
        }
        for thread in self.threads.keys() {
            let _ = ptrace::interrupt(*thread);
        }
        let began = Instant::now();
        while !self.threads.is_empty() && began.elapsed() < PATIENCE {
            match wait(None, true) {
                Ok(Some(waited)) => self.let_go_of(waited),
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn let_go_of(&mut self, waited: Waited) {
        let (thread, status) = (waited.thread, waited.status);
        if !libc::WIFSTOPPED(status) {
            self.ended(waited);
            return;
        }
        let (event, signal) = (status >> 16, status >> 8 & 0xff);
        let is_signal = event == 0 && signal != CALL_STOP;
        if event == libc::PTRACE_EVENT_EXIT && self.first == thread {
            // Its end is still to be seen.
            let _ = ptrace::go_on(thread, 0);
            return;
        }
        let _ = ptrace::detach(thread, if is_signal { signal } else { 0 });
        self.threads.remove(&thread);
    }
}

fn add(one: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    [0, 1].map(|of| one[of].saturating_add(other[of]))
}

/// How a new thread was asked for (clone(2)).
fn clone_flags(thread: u32, within: &Within) -> u64 {
    match i64::from(within.number) {
        libc::SYS_clone => within.arguments[0],
        libc::SYS_clone3 => {
            let mut flags = [0; 8];
            read_memory(thread, within.arguments[0], &mut flags);
            u64::from_ne_bytes(flags)
        }
        _ => 0,
    }
}
