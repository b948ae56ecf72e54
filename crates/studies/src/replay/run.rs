//! Runs a program's threads: each thinks, waits for others and does its calls, in its order.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use engine::study::{Doing, StudyError};

use super::act::Buffers;
use super::cold_cache_penalty::{ColdCachePenalty, Curve};
use super::plan::program::{Act, Kind, NO_SIGNAL, ReplayThread, Step};
use super::shared_state::{SharedState, Stopped};

/// Sleep ends late by up to so much, the kernel's timer slack: that long before, it is given up
/// for looking at the clock.
const SLEEP_LATE_NS: u64 = 120_000;
/// Whoever sleeps looks so often whether the run was interrupted.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// Whoever computes looks so often.
const SPIN_LOOKS: u32 = 1 << 14;
/// What replaying takes between calls is taken out of thinking, up to so much: more than this
/// was the machine's, as it is for any program.
const OWED_NS: u64 = 20_000;
/// So many calls that went otherwise are told.
const EXAMPLES_MAX: usize = 3;

/// What the threads came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Time in calls, by kind, in ticks.
    pub(super) in_calls: [u64; Kind::COUNT],
    pub(super) calls: [u64; Kind::COUNT],
    /// Time between calls, but for waiting.
    pub(super) thought: u64,
    /// The part of it that was computing in the recording.
    pub(super) computed: u64,
    /// What was left out of computing, for waits of the recording that were none.
    pub(super) spared: u64,
    pub(super) requested_bytes: u64,
    pub(super) deviations: u64,
    /// The first that went otherwise.
    pub(super) examples: Vec<Deviation>,
}

/// A call that went otherwise than recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deviation {
    pub(super) act: Act,
    pub(super) expected: i64,
    pub(super) found: i64,
}

impl Tally {
    /// How many of the threads' ticks that were left out made the replay shorter, which took
    /// `elapsed`: each of them, or a fraction where several threads were busy at once.
    pub(super) fn spared_of(&self, elapsed: u64) -> f64 {
        let busy = self.in_calls.iter().sum::<u64>() + self.computed;
        let at_once = busy as f64 / elapsed.max(1) as f64;
        self.spared as f64 / at_once.max(1.0)
    }

    /// Both together.
    fn add(&mut self, other: Self) {
        let sums = self.in_calls.iter_mut().chain(&mut self.calls);
        for (sum, more) in sums.zip(other.in_calls.into_iter().chain(other.calls)) {
            *sum += more;
        }
        self.thought += other.thought;
        self.computed += other.computed;
        self.spared += other.spared;
        self.requested_bytes += other.requested_bytes;
        self.deviations += other.deviations;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES_MAX);
    }
}

/// How threads think.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thinking {
    /// How much of it is kept.
    pub(super) kept: f64,
    /// How much longer it takes after a wait.
    pub(super) after_wait: Curve,
}

/// Threads that wait for the start. Dropping them ends them.
pub(super) struct Threads {
    shared_state: Arc<SharedState>,
    others: Vec<JoinHandle<Result<Tally, Stopped>>>,
    own: Buffers,
    thinking: Thinking,
}

impl Threads {
    /// Starts one for each replay thread but the first, which is for the thread that calls `run`.
    pub(super) fn start(
        shared_state: Arc<SharedState>,
        thinking: Thinking,
    ) -> Result<Self, StudyError> {
        let own = buffers(&shared_state.program.replay_threads[0]);
        let mut threads = Self { shared_state, others: Vec::new(), own, thinking };
        for number in 1..threads.shared_state.program.replay_threads.len() {
            let shared_state = Arc::clone(&threads.shared_state);
            let work = move || {
                let mut buffers = buffers(&shared_state.program.replay_threads[number]);
                let began = shared_state.wait(shared_state.gate())?;
                run_lane(&shared_state, number, thinking, began, &mut buffers)
            };
            let started = thread::Builder::new().name("replay".to_owned()).spawn(work);
            threads.others.push(started.doing("starting a thread of the replay")?);
        }
        Ok(threads)
    }

    /// Runs them all to their end.
    pub(super) fn run(mut self) -> Result<Tally, StudyError> {
        let began = self.shared_state.clock.ticks();
        self.shared_state.signal(self.shared_state.gate(), began);
        let mut outcome = run_lane(&self.shared_state, 0, self.thinking, began, &mut self.own)
            .map_err(|Stopped| StudyError::Stopped);
        for thread in self.others.drain(..) {
            if outcome.is_err() {
                self.shared_state.give_up();
            }
            let theirs = match thread.join() {
                Ok(theirs) => theirs.map_err(|Stopped| StudyError::Stopped),
                Err(_) => Err(StudyError::Worker("a thread of the replay panicked".to_owned())),
            };
            outcome = outcome.and_then(|mut sum| {
                sum.add(theirs?);
                Ok(sum)
            });
        }
        outcome
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if self.others.is_empty() {
            return;
        }
        self.shared_state.give_up();
        for thread in self.others.drain(..) {
            // One that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

/// Memory for a replay thread's largest calls.
fn buffers(replay_thread: &ReplayThread) -> Buffers {
    let (mut read, mut list) = (0, 0);
    for step in &replay_thread.steps {
        match step.act {
            Act::Read { length, .. } => read = read.max(length as usize),
            Act::List { length, .. } | Act::Readlink { length, .. } => {
                list = list.max(length as usize);
            }
            _ => {}
        }
    }
    Buffers::new(read.min(super::act::CALL_BYTES_MAX), list.min(super::act::CALL_BYTES_MAX))
}

/// A thread of the replay at work.
struct Running<'w> {
    shared_state: &'w SharedState,
    /// Ticks of a nanosecond.
    ticks_per_ns: f64,
    /// How much of thinking is kept.
    kept: f64,
    cold_cache_penalty: ColdCachePenalty,
    /// The share of it that is computing.
    computing: f64,
    began: u64,
    /// From when on the thread is taken to think …
    since: u64,
    /// … and does.
    free: u64,
    tally: Tally,
}

fn run_lane(
    shared_state: &SharedState,
    number: usize,
    thinking: Thinking,
    began: u64,
    buffers: &mut Buffers,
) -> Result<Tally, Stopped> {
    let replay_thread = &shared_state.program.replay_threads[number];
    let ticks_per_ns = 1.0 / shared_state.clock.tick_ns();
    let mut running = Running {
        shared_state,
        ticks_per_ns,
        kept: thinking.kept,
        cold_cache_penalty: ColdCachePenalty::new(thinking.after_wait),
        computing: 1.0,
        began,
        since: began,
        free: began,
        tally: Tally::default(),
    };
    let mut waits = 0;
    for (number, step) in replay_thread.steps.iter().enumerate() {
        let awaited = &replay_thread.waits[waits..step.waits_end as usize];
        waits = step.waits_end as usize;
        if number % 64 == 0 {
            shared_state.check()?;
        }
        running.step(step, awaited, buffers)?;
    }
    Ok(running.tally)
}

impl Running<'_> {
    fn step(&mut self, step: &Step, awaited: &[u32], buffers: &mut Buffers) -> Result<(), Stopped> {
        let clock = &self.shared_state.clock;
        if step.waits_first {
            let woken = self.wait(awaited)?;
            self.since = match step.act {
                Act::Begin { computing } => {
                    self.computing = computing.into();
                    woken.max(self.began)
                }
                _ => self.since.max(woken),
            };
            self.free = self.since;
        }
        let due = self.think(step.think_ns)?;
        let mut now = clock.ticks();
        let thought = now.saturating_sub(self.free);
        self.tally.thought += thought;
        self.tally.computed += (thought as f64 * self.computing) as u64;
        // What came between calls beside thinking is taken out of the next thinking.
        let mut owed = now.saturating_sub(due).min((OWED_NS as f64 * self.ticks_per_ns) as u64);
        if !step.waits_first && !awaited.is_empty() {
            self.wait(awaited)?;
            now = clock.ticks();
            owed = 0;
        }
        let mut ended = now;
        if let Some(kind) = step.act.kind() {
            let found = self.shared_state.act(&step.act, buffers);
            ended = clock.ticks();
            self.tally.in_calls[kind as usize] += ended.saturating_sub(now);
            self.tally.calls[kind as usize] += 1;
            if matches!(kind, Kind::Read | Kind::Write) {
                self.tally.requested_bytes += found.max(0) as u64;
            }
            if step.waited_us > 0 {
                let took_us = ended.saturating_sub(now) as f64 / self.ticks_per_ns / 1e3;
                self.cold_cache_penalty.call(step.waited_us, took_us);
            }
            if !step.act.agrees(step.expected, found) {
                self.deviates(step, found);
            }
        }
        if step.signal != NO_SIGNAL {
            self.shared_state.signal(step.signal, ended);
        }
        (self.since, self.free) = (ended - owed, ended);
        Ok(())
    }

    /// Waits for others; when the last of them was done.
    fn wait(&self, awaited: &[u32]) -> Result<u64, Stopped> {
        let mut last = 0;
        for signal in awaited {
            last = last.max(self.shared_state.wait(*signal)?);
        }
        Ok(last)
    }

    /// Passes the time that the program did other things; when it was over.
    fn think(&mut self, think_ns: u64) -> Result<u64, Stopped> {
        let clock = &self.shared_state.clock;
        let recorded = think_ns as f64 * self.kept;
        let spared = self.cold_cache_penalty.of(recorded * self.computing) * self.ticks_per_ns;
        self.tally.spared += spared as u64;
        let ticks = recorded * self.ticks_per_ns - spared;
        let due = self.since + ticks as u64;
        let late = (SLEEP_LATE_NS as f64 * self.ticks_per_ns) as u64;
        let computes = ((ticks * self.computing) as u64).max(late);
        loop {
            let now = clock.ticks();
            let sleeps = due.saturating_sub(computes).saturating_sub(now);
            if sleeps <= late {
                break;
            }
            let sleep = Duration::from_nanos((sleeps as f64 / self.ticks_per_ns) as u64);
            thread::sleep(sleep.min(SLEEP_MAX));
            self.shared_state.check()?;
        }
        let mut looks = 0_u32;
        while clock.ticks() < due {
            std::hint::spin_loop();
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(SPIN_LOOKS) {
                self.shared_state.check()?;
            }
        }
        Ok(due)
    }

    #[cold]
    fn deviates(&mut self, step: &Step, found: i64) {
        self.tally.deviations += 1;
        if self.tally.examples.len() < EXAMPLES_MAX {
            let Step { act, expected, .. } = *step;
            self.tally.examples.push(Deviation { act, expected, found });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where threads that only wait make a replay seem better known than it is.
    #[test]
    fn what_is_left_out_counts_in_full_beside_threads_that_idle() {
        let of = |thought, computed| {
            let in_calls = [0, 0, 0, 100, 0, 0];
            Tally { in_calls, thought, computed, spared: 50, ..Tally::default() }.spared_of(1_000)
        };
        let (alone, beside_idle, both_busy) = (of(900, 900), of(9_900, 900), of(1_900, 1_900));
        assert_eq!([alone, beside_idle, both_busy].map(|ticks| ticks as u64), [50, 50, 25]);
    }
}
