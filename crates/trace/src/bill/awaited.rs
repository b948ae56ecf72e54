//! Whom a program waits for outside of the recording: a server that it asks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

/// As many pairs of threads, and threads, are told apart.
const THREADS_MAX: usize = 1 << 16;
/// Of so many threads outside of the recording it is known what they are of: no recorder tells of more.
const OUTSIDE_MAX: usize = 256;
/// Shorter parts of the time are not worth a look at another program.
const WORTH_A_LOOK: f64 = 0.05;
/// What ended fewer waits need not have meant to: where a wait ends by time, as that of a thread that
/// sleeps, it is the interrupted thread that is seen to end it.
const WAITS_MIN: u64 = 5;
/// How many are named.
const NAMED: usize = 3;

/// A process outside of the recording that the program waited for, or a thread of which that is not known.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Awaited {
    /// The number of its thread that ended waits, the lowest of several, as the recorder saw it.
    pub thread: u32,
    /// How often it ended a wait.
    pub times: u64,
    /// How long that thread of the program waited that waited longest.
    pub waited_ns: u64,
    /// This as a share of the wall time without the recorder, 1 at the most.
    pub share: f64,
    /// Its process, as far as it could be looked at.
    pub process: Option<AwaitedProcess>,
}

impl Awaited {
    /// Whether it is known to answer at a socket.
    pub fn answers(&self) -> bool {
        self.process.as_ref().is_some_and(|process| process.address.is_some())
    }
}

/// A process that the program waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AwaitedProcess {
    /// Its number. Where a program started another process of itself to answer, this is the first.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Where it answers, as far as that could be found: `127.0.0.1:5432`, or a local socket's path.
    pub address: Option<String>,
}

/// Waits that another thread ended.
#[derive(Default)]
pub(super) struct Wakes {
    recorded: HashSet<u32>,
    /// How often and for how long, by who woke and who waited.
    waits: HashMap<(u32, u32), (u64, u64)>,
    /// What threads outside of the recording are of.
    processes: HashMap<u32, AwaitedProcess>,
}

impl Wakes {
    /// A thread of the recording has begun.
    pub(super) fn begin(&mut self, thread: u32) {
        if self.recorded.len() < THREADS_MAX {
            self.recorded.insert(thread);
        }
    }

    pub(super) fn take(&mut self, by: u32, thread: u32, slept_ns: u64) {
        if self.waits.len() < THREADS_MAX || self.waits.contains_key(&(by, thread)) {
            let (times, waited_ns) = self.waits.entry((by, thread)).or_default();
            *times += 1;
            *waited_ns = waited_ns.saturating_add(slept_ns);
        }
    }

    pub(super) fn is_of(&mut self, thread: u32, process: AwaitedProcess) {
        if self.processes.len() < OUTSIDE_MAX {
            self.processes.insert(thread, process);
        }
    }

    /// Whether it is of the recording: a thread that the kernel made for one of its processes is.
    fn is_recorded(&self, thread: u32) -> bool {
        let process = self.processes.get(&thread).map(|process| process.number);
        self.recorded.contains(&thread) || process.is_some_and(|of| self.recorded.contains(&of))
    }

    /// Those outside of the recording, the one that was waited for longest first.
    pub(super) fn awaited(&self, wall_ns: u64) -> Vec<Awaited> {
        // Beyond the bound, a thread may be one of the recording.
        if self.recorded.len() >= THREADS_MAX {
            return Vec::new();
        }
        // By whom: of a process, any of its threads. The first of them stands for it.
        let mut by_thread: BTreeMap<(Option<u32>, u32), Vec<_>> = BTreeMap::new();
        for ((by, thread), waits) in &self.waits {
            if !self.is_recorded(*by) {
                let process = self.processes.get(by).map(|process| process.number);
                let whom = (process, if process.is_some() { 0 } else { *by });
                by_thread.entry(whom).or_default().push((*by, *thread, *waits));
            }
        }
        let awaited = |waits: Vec<(u32, u32, (u64, u64))>| {
            let mut by_waiting: HashMap<u32, u64> = HashMap::new();
            for (_, waiting, (_, ns)) in &waits {
                let of_thread = by_waiting.entry(*waiting).or_default();
                *of_thread = of_thread.saturating_add(*ns);
            }
            let times = waits.iter().map(|(_, _, (times, _))| times).sum();
            let waited_ns = by_waiting.into_values().max().unwrap_or_default();
            let share = (waited_ns as f64 / wall_ns.max(1) as f64).min(1.0);
            let thread = waits.iter().map(|(by, ..)| *by).min().unwrap_or_default();
            // One that is known to answer tells where.
            let processes = || waits.iter().filter_map(|(by, ..)| self.processes.get(by));
            let answers = processes().find(|process| process.address.is_some());
            let process = answers.or_else(|| processes().next()).cloned();
            Awaited { thread, times, waited_ns, share, process }
        };
        let mut all: Vec<Awaited> = by_thread.into_values().map(awaited).collect();
        let is_asked = |of: &Awaited| of.answers() || of.times >= WAITS_MIN;
        all.retain(|awaited| awaited.share >= WORTH_A_LOOK && is_asked(awaited));
        all.sort_by_key(|awaited| (Reverse(awaited.waited_ns), awaited.thread));
        all.truncate(NAMED);
        all
    }
}
