//! The recorded threads and their steps, with the time that they thought in between.

use std::collections::HashMap;

use super::order::{StepOf, ThreadNumber};
use super::program::{Act, NO_SIGNAL, Step};

/// What recording a call cost the program, as it is taken out of thinking.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overhead {
    /// All of it.
    pub(super) call_ns: i64,
    /// What of that is around the call rather than within the time that was recorded for it.
    pub(super) around_ns: i64,
}

/// A recorded thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) steps: Vec<Step>,
    /// When each has ended, in the recording.
    ends: Vec<u64>,
    /// What steps come after, each with the step that does.
    pub(super) after: Vec<(usize, StepOf)>,
    pub(super) began_ns: u64,
    /// When it had done what its steps so far stand for.
    last_ns: u64,
    /// Overhead since then, on calls that are not replayed.
    skipped_ns: i64,
    /// Overhead that was more than the time that it should have been part of.
    owed_ns: i64,
    /// All time between steps.
    pub(super) thought_ns: u64,
    /// All time in calls.
    pub(super) in_calls_ns: u64,
    /// Overhead on all recorded calls.
    pub(super) overhead_ns: i64,
    /// Processor time, where it was told: outside the kernel, and within.
    pub(super) cpu_ns: Option<[u64; 2]>,
    pub(super) ended: bool,
    /// Whether it is the first of its process.
    pub(super) is_leader: bool,
    /// The steps after which it waited for another thread.
    pub(super) before_waits: Vec<usize>,
}

impl Thread {
    fn new(began_ns: u64) -> Self {
        let begin = Step { act: Act::Begin { computing: 1.0 }, waits_first: true, ..PASS };
        Self {
            steps: vec![begin],
            ends: vec![began_ns],
            after: Vec::new(),
            began_ns,
            last_ns: began_ns,
            skipped_ns: 0,
            owed_ns: 0,
            thought_ns: 0,
            in_calls_ns: 0,
            overhead_ns: 0,
            cpu_ns: None,
            ended: false,
            is_leader: true,
            before_waits: Vec::new(),
        }
    }

    /// When the last step ended.
    pub(super) fn ended_ns(&self) -> u64 {
        self.last_ns
    }

    /// Keeps so many steps, and so much of what they come after.
    pub(super) fn cut(&mut self, steps: usize, edges: usize) {
        if steps == 0 {
            self.steps[0].waits_end = 0;
        }
        let steps = steps.max(1);
        self.steps.truncate(steps);
        self.ends.truncate(steps);
        self.after.truncate(edges);
        self.last_ns = self.ends.last().copied().unwrap_or(self.began_ns);
    }

    /// The time since the last step as thinking, without the overhead in it.
    fn think(&mut self, until_ns: u64, around_ns: i64) -> u64 {
        let passed = until_ns.saturating_sub(self.last_ns) as i64;
        let overhead_ns = self.owed_ns + self.skipped_ns + around_ns;
        self.owed_ns = (overhead_ns - passed).max(0);
        self.skipped_ns = 0;
        let think_ns = (passed - overhead_ns).max(0) as u64;
        self.thought_ns += think_ns;
        think_ns
    }

    fn push(&mut self, step: Step, end_ns: u64) {
        self.steps.push(step);
        self.ends.push(end_ns);
        self.last_ns = end_ns;
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: Vec<Thread>,
    numbers: HashMap<u32, ThreadNumber>,
}

impl Threads {
    /// The thread of that number in the recording, which begins now if it is new.
    pub(super) fn number(&mut self, thread: u32, now_ns: u64) -> ThreadNumber {
        *self.numbers.entry(thread).or_insert_with(|| {
            // One that nobody told of was there from the beginning.
            let began_ns = if self.all.is_empty() { 0 } else { now_ns };
            self.all.push(Thread::new(began_ns));
            self.all.len() - 1
        })
    }

    /// A thread of that number ends; the number may be another's later.
    pub(super) fn forget(&mut self, thread: u32) {
        self.numbers.remove(&thread);
    }

    /// The thread that has that number now.
    pub(super) fn find(&self, thread: u32) -> Option<ThreadNumber> {
        self.numbers.get(&thread).copied()
    }

    pub(super) fn get_mut(&mut self, number: ThreadNumber) -> &mut Thread {
        &mut self.all[number]
    }

    pub(super) fn into_all(self) -> Vec<Thread> {
        self.all
    }

    pub(super) fn all_mut(&mut self) -> &mut [Thread] {
        &mut self.all
    }

    /// The latest step of a thread.
    pub(super) fn latest(&self, thread: ThreadNumber) -> StepOf {
        StepOf { thread, step: self.all[thread].steps.len() - 1 }
    }

    /// A call that is not replayed: its time is thinking.
    pub(super) fn skip(&mut self, thread: ThreadNumber, overhead: Overhead) {
        self.all[thread].skipped_ns += overhead.call_ns;
        self.all[thread].overhead_ns += overhead.call_ns;
    }

    /// A call that is replayed, from when it began to when it ended, after steps of others.
    pub(super) fn call(
        &mut self,
        thread: ThreadNumber,
        ([began_ns, ended_ns], overhead): ([u64; 2], Overhead),
        (act, expected): (Act, i64),
        after: &[StepOf],
    ) -> StepOf {
        let own = &mut self.all[thread];
        let think_ns = own.think(began_ns, overhead.around_ns);
        own.overhead_ns += overhead.call_ns;
        own.in_calls_ns += ended_ns - began_ns;
        self.step(thread, ended_ns, Step { think_ns, act, expected, ..PASS }, after)
    }

    /// A call waited for so long.
    pub(super) fn waited(&mut self, step: StepOf, ns: u64) {
        let us = u16::try_from(ns / 1000).unwrap_or(u16::MAX);
        self.all[step.thread].steps[step.step].waited_us = us;
    }

    /// Something that others may wait for.
    pub(super) fn pass(&mut self, thread: ThreadNumber, at_ns: u64) -> StepOf {
        let at_ns = at_ns.max(self.all[thread].last_ns);
        let think_ns = self.all[thread].think(at_ns, 0);
        self.step(thread, at_ns, Step { think_ns, ..PASS }, &[])
    }

    /// A thread waited until others had done something, and went on a little later.
    pub(super) fn woken(&mut self, thread: ThreadNumber, ended_ns: u64, after: &[StepOf]) {
        let last_ns = self.all[thread].last_ns;
        let woken_ns = after.iter().map(|step| self.all[step.thread].ends[step.step]).max();
        let ended_ns = ended_ns.max(last_ns);
        let since_ns = woken_ns.unwrap_or(last_ns).clamp(last_ns, ended_ns);
        let think_ns = ended_ns - since_ns;
        self.all[thread].thought_ns += think_ns;
        self.step(thread, ended_ns, Step { think_ns, waits_first: true, ..PASS }, after);
    }

    /// Another thread begins after a step of the one that made it.
    pub(super) fn begins_after(&mut self, thread: ThreadNumber, step: StepOf) {
        self.all[thread].after.push((0, step));
        self.all[thread].steps[0].waits_end = 1;
    }

    fn step(&mut self, thread: ThreadNumber, end_ns: u64, step: Step, after: &[StepOf]) -> StepOf {
        let own = &mut self.all[thread];
        let number = own.steps.len();
        own.after.extend(after.iter().map(|other| (number, *other)));
        let waits_end = own.after.len() as u32;
        own.push(Step { waits_end, ..step }, end_ns);
        StepOf { thread, step: number }
    }
}

/// A step that does nothing.
const PASS: Step = Step {
    think_ns: 0,
    act: Act::Pass,
    expected: 0,
    signal: NO_SIGNAL,
    waits_end: 0,
    waits_first: false,
    waited_us: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: (Act, i64) = (Act::Close { slot: 0 }, 0);

    #[test]
    fn thinking_is_the_time_between_calls_without_the_toll() {
        let overhead = Overhead { call_ns: 400, around_ns: 300 };
        let mut threads = Threads::default();
        let one = threads.number(7, 0);
        threads.call(one, ([10_000, 11_000], overhead), CALL, &[]);
        // Two more were recorded, and are not replayed.
        threads.skip(one, overhead);
        threads.skip(one, overhead);
        threads.call(one, ([15_000, 16_000], overhead), CALL, &[]);
        // What is too much for one pause is taken out of the next.
        threads.call(one, ([16_100, 17_000], overhead), CALL, &[]);
        threads.call(one, ([18_000, 19_000], overhead), CALL, &[]);
        let thread = &threads.into_all()[one];
        let think: Vec<u64> = thread.steps.iter().map(|step| step.think_ns).collect();
        assert_eq!(think, [0, 9_700, 4_000 - 800 - 300, 0, 1_000 - 200 - 300]);
        assert_eq!(thread.thought_ns, think.iter().sum::<u64>());
        assert_eq!((thread.in_calls_ns, thread.overhead_ns), (3_900, 6 * 400));
    }

    #[test]
    fn who_was_woken_thinks_from_then_on_and_not_from_its_own_last_step() {
        let mut threads = Threads::default();
        let [waiting, waking] = [1, 2].map(|thread| threads.number(thread, 0));
        threads.pass(waiting, 100);
        let wakes = threads.pass(waking, 900);
        threads.woken(waiting, 950, &[wakes]);
        let woken = threads.into_all()[waiting].steps[2];
        assert_eq!((woken.think_ns, woken.waits_first, woken.waits_end), (50, true, 1));
    }
}
