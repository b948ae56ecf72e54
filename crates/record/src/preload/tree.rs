//! From records to events: which threads there are, and which programs were not seen.

use std::collections::{HashMap, HashSet};
use std::io;

use trace::{Entry, Unseen};

use super::layout::{Record, RecordKind};
use super::times::Times;
use crate::raw_call::{Event, RawCall, Sink};
use crate::start::BecameAt;

/// When the command is about to begin.
const NOT_KNOWN: u64 = 0;

/// A program that was about to begin.
struct Begins {
    at_ns: u64,
    program: Vec<u8>,
}

/// The processes of a recording, as they tell of themselves.
pub(super) struct Tree {
    /// Each thread's process.
    threads: HashMap<u32, u32>,
    /// Births that one side has told of.
    clones: HashSet<u64>,
    /// Processes that have not told of the program that they were about to become: either it did
    /// not take the library, or it has not begun yet.
    beginning: HashMap<u32, Begins>,
    /// Processor time of threads that have ended, by process.
    used: HashMap<u32, (u64, u64)>,
    /// When the command became its program. The library reports later, once it is loaded; loading is
    /// part of the command's time.
    became: BecameAt,
}

impl Tree {
    /// One that begins with a command, which becomes its program at some time.
    pub(super) fn of(first: u32, became: BecameAt) -> Self {
        let begins = Begins { at_ns: NOT_KNOWN, program: Vec::new() };
        Self {
            threads: HashMap::from([(first, first)]),
            clones: HashSet::new(),
            beginning: HashMap::from([(first, begins)]),
            used: HashMap::new(),
            became,
        }
    }

    pub(super) fn on_event<S: Sink>(
        &mut self,
        record: Record<'_>,
        times: &Times,
        sink: &mut S,
    ) -> io::Result<()> {
        let Record { at, thread, process, what } = record;
        let at_ns = times.ns(at);
        match what {
            RecordKind::Called(raw_call) => {
                let (began_ns, ended_ns) =
                    (times.ns(raw_call.began_ns), times.ns(raw_call.ended_ns));
                sink.on_event(&Event::Called(RawCall { began_ns, ended_ns, ..raw_call }))
            }
            RecordKind::Began(program) => {
                let begins = self.beginning.remove(&process);
                self.threads.retain(|_, of| *of != process);
                self.threads.insert(process, process);
                let command = begins.filter(|begins| begins.at_ns == NOT_KNOWN);
                let became = command.and_then(|_| self.became.ns());
                let at_ns = became.map_or(at_ns, |became_ns| became_ns.min(at_ns));
                sink.on_event(&Event::Executed { at_ns, thread: process, program })
            }
            RecordKind::Executing(program) => {
                let program = program.to_vec();
                self.beginning.insert(process, Begins { at_ns, program });
                Ok(())
            }
            RecordKind::NotExecuted => {
                self.beginning.remove(&process);
                Ok(())
            }
            RecordKind::Forked { number, child, flags } => {
                // What follows a birth in either is behind what that one told of it.
                if self.clones.remove(&number) {
                    return Ok(());
                }
                self.clones.insert(number);
                self.forked(at_ns, thread, child, flags, sink)
            }
            RecordKind::Ended { status, is_process, user_ns, system_ns } => {
                let used = (user_ns, system_ns);
                if is_process {
                    self.end_process(at_ns, process, status, Some((thread, used)), sink)
                } else {
                    let sum = self.used.entry(process).or_default();
                    *sum = (sum.0.saturating_add(user_ns), sum.1.saturating_add(system_ns));
                    self.end(at_ns, thread, status, used, sink)
                }
            }
            RecordKind::Reaped { child, status } => self.reaped(at_ns, child, status, sink),
            RecordKind::LeftAlone => sink.on_event(&unseen_programs(1)),
            RecordKind::Unfinished => sink.on_event(&Event::Entry(Entry::Lost { count: 1 })),
        }
    }

    fn forked<S: Sink>(
        &mut self,
        at_ns: u64,
        parent: u32,
        child: u32,
        flags: u64,
        sink: &mut S,
    ) -> io::Result<()> {
        let has = |flag: libc::c_int| flags & flag as u64 != 0;
        let thread = has(libc::CLONE_THREAD);
        let process = self.threads.get(&parent).copied().filter(|_| thread).unwrap_or(child);
        self.threads.insert(child, process);
        sink.on_event(&Event::Entry(Entry::Fork {
            at_ns,
            parent,
            child,
            thread,
            shares_files: has(libc::CLONE_FILES),
            shares_folder: has(libc::CLONE_FS),
        }))
    }

    fn end<S: Sink>(
        &mut self,
        at_ns: u64,
        thread: u32,
        status: i32,
        (user_ns, system_ns): (u64, u64),
        sink: &mut S,
    ) -> io::Result<()> {
        if self.threads.remove(&thread).is_none() {
            return Ok(());
        }
        sink.on_event(&Event::Entry(Entry::Exit { at_ns, thread, status, user_ns, system_ns }))
    }

    /// All of its threads; what is left of its processor time is that of the one that said so.
    fn end_process<S: Sink>(
        &mut self,
        at_ns: u64,
        process: u32,
        status: i32,
        by: Option<(u32, (u64, u64))>,
        sink: &mut S,
    ) -> io::Result<()> {
        let before = self.used.remove(&process).unwrap_or_default();
        let mut threads: Vec<u32> = self
            .threads
            .iter()
            .filter(|(_, of)| **of == process)
            .map(|(thread, _)| *thread)
            .collect();
        threads.sort_unstable();
        for thread in threads {
            let used = match by {
                Some((last, (user, system))) if last == thread => {
                    (user.saturating_sub(before.0), system.saturating_sub(before.1))
                }
                _ => (0, 0),
            };
            self.end(at_ns, thread, status, used, sink)?;
        }
        Ok(())
    }

    /// A process that has ended without having said so: a signal has ended it, or it was a program
    /// that was not seen.
    pub(super) fn reaped<S: Sink>(
        &mut self,
        at_ns: u64,
        process: u32,
        status: i32,
        sink: &mut S,
    ) -> io::Result<()> {
        if let Some(Begins { at_ns, program }) = self.beginning.remove(&process) {
            sink.on_event(&unseen_programs(1))?;
            sink.on_event(&Event::Executed { at_ns, thread: process, program: &program })?;
        }
        self.end_process(at_ns, process, status, None, sink)
    }

    /// What is still about to begin, or runs unseen, when the recording ends.
    pub(super) fn finish<S: Sink>(&mut self, sink: &mut S) -> io::Result<()> {
        match self.beginning.drain().count() {
            0 => Ok(()),
            count => sink.on_event(&unseen_programs(count as u64)),
        }
    }
}

fn unseen_programs(count: u64) -> Event<'static> {
    Event::Entry(Entry::Unseen { kind: Unseen::Programs, count })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// What a recording is told, in short.
    #[derive(Default)]
    struct Events(Vec<String>);

    impl Sink for Events {
        fn on_event(&mut self, event: &Event<'_>) -> io::Result<()> {
            self.0.push(match event {
                Event::Called(raw_call) => format!("call {}", raw_call.thread),
                Event::Entry(Entry::Fork { child, thread, .. }) => format!("fork {child} {thread}"),
                Event::Executed { thread, program, .. } => {
                    format!("exec {thread} {}", String::from_utf8_lossy(program))
                }
                Event::Entry(Entry::Exit { thread, status, user_ns, .. }) => {
                    format!("end {thread} {status} {user_ns}")
                }
                Event::Entry(Entry::Unseen { count, .. }) => format!("unseen {count}"),
                other => panic!("{other:?}"),
            });
            Ok(())
        }

        fn idle(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn told(records: Vec<(u32, u32, RecordKind<'_>)>) -> Vec<String> {
        let (mut tree, mut told, times) =
            (Tree::of(1, BecameAt::default()), Events::default(), Times::new());
        for (thread, process, what) in records {
            tree.on_event(Record { at: 0, thread, process, what }, &times, &mut told).unwrap();
        }
        tree.finish(&mut told).unwrap();
        told.0
    }

    fn ended(status: i32, is_process: bool, user_ns: u64) -> RecordKind<'static> {
        RecordKind::Ended { status, is_process, user_ns, system_ns: 0 }
    }

    const THREAD: u64 = (libc::CLONE_THREAD | libc::CLONE_FILES) as u64;

    #[test]
    fn a_birth_is_told_once_by_whoever_is_first() {
        let fork = |number| RecordKind::Forked { number, child: 2, flags: 0 };
        let records = vec![
            (1, 1, RecordKind::Began(b"sh")),
            (1, 1, fork(7)),
            (1, 1, fork(7)),
            (2, 2, ended(0, true, 5)),
            (1, 1, fork(8)),
        ];
        assert_eq!(told(records), ["exec 1 sh", "fork 2 false", "end 2 0 5", "fork 2 false"]);
    }

    #[test]
    fn threads_end_with_their_process_and_its_time_is_counted_once() {
        let thread = |number, child| RecordKind::Forked { number, child, flags: THREAD };
        let records = vec![
            (1, 1, RecordKind::Began(b"x")),
            (1, 1, thread(1, 2)),
            (1, 1, thread(2, 3)),
            (2, 1, ended(0, false, 30)),
            (1, 1, ended(256, true, 100)),
        ];
        let expected =
            ["exec 1 x", "fork 2 true", "fork 3 true", "end 2 0 30", "end 1 256 70", "end 3 256 0"];
        assert_eq!(told(records), expected);
    }

    /// Fails where a program that did not take the library is taken for one that did nothing.
    #[test]
    fn a_program_that_does_not_tell_of_itself_was_not_seen() {
        let fork = RecordKind::Forked { number: 1, child: 2, flags: 0 };
        let records = vec![
            (1, 1, RecordKind::Began(b"sh")),
            (1, 1, fork),
            (2, 2, RecordKind::Executing(b"missing")),
            (2, 2, RecordKind::NotExecuted),
            (2, 2, RecordKind::Executing(b"static")),
            (1, 1, RecordKind::Reaped { child: 2, status: 9 }),
        ];
        let expected = ["exec 1 sh", "fork 2 false", "unseen 1", "exec 2 static", "end 2 9 0"];
        assert_eq!(told(records), expected);
        let still =
            vec![(1, 1, RecordKind::Began(b"sh")), (1, 1, RecordKind::Executing(b"static"))];
        assert_eq!(told(still), ["exec 1 sh", "unseen 1"]);
        assert_eq!(told(Vec::new()), ["unseen 1"]);
    }
}
