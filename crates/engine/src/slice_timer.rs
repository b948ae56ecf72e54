//! Times every operation from one reading of the clock per operation.
//!
//! An operation begins where the one before it ended, so nothing between two
//! operations goes uncounted, and the recorder's own cost (some nanoseconds,
//! measured in every run) is part of every time per operation.

use std::sync::atomic::Ordering;

use host::clock::Clock;
use model::counters::Counters as _;
use model::spent::Spent;
use process::StopFlag;
use stats::Histogram;

use crate::error::StudyError;

/// Who is told how many operations are done, after each of them.
pub type OnOperation = dyn Fn(u64) -> Result<(), StudyError>;

/// Gathers what one slice spent, and its latencies in ticks.
pub struct SliceTimer {
    clock: Clock,
    stop: StopFlag,
    /// What is asked after each operation: `stop`, or a flag that is always raised where
    /// somebody is told of each, so that nobody else pays for it.
    asked: StopFlag,
    told: Option<Box<OnOperation>>,
    latencies: Histogram,
    started: u64,
    last: u64,
    ended: u64,
    sync_ticks: u64,
    lock_ticks: u64,
    /// What was counted here; times are kept in ticks beside it.
    counted: Spent,
    pauses: bool,
    workers: Option<(WorkersAre, Spent)>,
    /// What a program used that ran as the only operation.
    program: Option<Spent>,
}

/// Who did a slice's operations in the place of the thread that times it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkersAre {
    /// Threads of this process, whose processor time, page faults and calls are in
    /// this process's own figures.
    Threads,
    /// Other processes, whose figures are theirs alone: this process only waited.
    Processes,
}

impl SliceTimer {
    /// A recorder that asks `stop` whether to go on.
    pub fn new(clock: Clock, stop: StopFlag) -> Self {
        Self {
            clock,
            asked: StopFlag::clone(&stop),
            stop,
            told: None,
            latencies: Histogram::new(),
            started: 0,
            last: 0,
            ended: 0,
            sync_ticks: 0,
            lock_ticks: 0,
            counted: Spent::default(),
            pauses: false,
            workers: None,
            program: None,
        }
    }

    /// A recorder that tells of each operation once it is done, before the next one
    /// begins. What it is told to, and an error of it, end the slice as a stop does. Its
    /// times hold what the telling took, and are no measurement.
    pub fn telling(clock: Clock, stop: StopFlag, told: Box<OnOperation>) -> Self {
        let asked = StopFlag::default();
        asked.store(true, Ordering::Relaxed);
        Self { asked, told: Some(told), ..Self::new(clock, stop) }
    }

    /// Forgets the slice before and starts the clock.
    pub fn start(&mut self) {
        self.latencies.clear();
        self.sync_ticks = 0;
        self.lock_ticks = 0;
        self.counted = Spent::default();
        self.pauses = false;
        self.workers = None;
        self.program = None;
        self.started = self.clock.ticks();
        self.last = self.started;
        self.ended = self.started;
    }

    /// Ends one operation and begins the next.
    #[inline]
    pub fn lap(&mut self) {
        let now = self.clock.ticks();
        if now < self.last {
            self.counted.clock_backward_steps += 1;
        }
        self.latencies.record(now.saturating_sub(self.last));
        self.last = now;
    }

    /// Ends the slice's only operation, a program that was timed elsewhere. The slice lasts as
    /// long as the program did. Starting the program and learning of its end do not count.
    pub fn lap_of(&mut self, program: Spent) {
        let ticks = (program.elapsed_ns as f64 / self.clock.tick_ns()) as u64;
        self.started = self.clock.ticks().saturating_sub(ticks).max(self.started);
        self.last = self.started;
        self.program = Some(program);
        self.lap();
    }

    /// Ends an operation that should have begun at a reading of the clock: its
    /// latency counts from there, and the pauses between operations no longer
    /// count as the slice's time.
    #[inline]
    pub fn lap_from(&mut self, intended: u64) {
        self.last = intended;
        self.pauses = true;
        self.lap();
    }

    /// Ends an operation that others ran beside: its latency counts from when it began,
    /// while the slice's time goes on for all of them.
    #[inline]
    pub fn completed(&mut self, began: u64) {
        self.last = began;
        self.lap();
    }

    /// Notes what the operations asked the system to write or read, in bytes.
    pub fn requested(&mut self, bytes: u64) {
        self.counted.requested_bytes += bytes;
    }

    /// Notes that a file is created, emptied, renamed or removed.
    #[inline]
    pub fn changed_name(&mut self) {
        self.counted.name_changes += 1;
    }

    /// Takes in what workers spent who did the slice's operations: their times count
    /// instead of the time that passed here, and what they counted is added. The
    /// latencies are pairs of ticks and how many operations took that long.
    pub fn absorb(
        &mut self,
        workers: WorkersAre,
        spent: Spent,
        latencies: impl IntoIterator<Item = (u64, u64)>,
    ) {
        for (ticks, times) in latencies {
            self.latencies.record_many(ticks, times);
        }
        self.workers = Some((workers, spent));
    }

    /// When the last operation ended, or the first began, in ticks.
    #[inline]
    pub fn last_ticks(&self) -> u64 {
        self.last
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The flag that ends the run.
    pub fn stop_flag(&self) -> &StopFlag {
        &self.stop
    }

    /// Forces data to the device as part of the current operation, under a
    /// clock of its own.
    pub fn sync<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let before = self.clock.ticks();
        let result = call();
        self.sync_ticks += self.clock.ticks().saturating_sub(before);
        self.counted.sync_calls += 1;
        result
    }

    /// Takes in calls that forced data to the device as part of the operations, and
    /// that someone else has timed: a library that does its own.
    pub fn synced(&mut self, calls: u64, took_ns: u64) {
        self.counted.sync_calls += calls;
        self.sync_ticks += (took_ns as f64 / self.clock.tick_ns()) as u64;
    }

    /// Takes in calls that took locks or let go of them, likewise.
    pub fn locked(&mut self, calls: u64, took_ns: u64) {
        self.counted.lock_calls += calls;
        self.lock_ticks += (took_ns as f64 / self.clock.tick_ns()) as u64;
    }

    /// Takes a lock as the first thing of the current operation, which began
    /// where the one before ended: one more reading of the clock times it.
    #[inline]
    pub fn lock<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let before = if self.pauses { self.clock.ticks() } else { self.last };
        let result = call();
        self.lock_ticks += self.clock.ticks().saturating_sub(before);
        self.counted.lock_calls += 1;
        result
    }

    /// Stops the clock; where it was stopped before, what came since then counts too.
    pub fn finish(&mut self) {
        self.ended = self.clock.ticks();
    }

    /// An error once the run is interrupted. Cheap enough to call often.
    #[inline]
    pub fn check_stop(&self) -> Result<(), StudyError> {
        if self.asked.load(Ordering::Relaxed) { self.stopped_or_tell() } else { Ok(()) }
    }

    #[cold]
    fn stopped_or_tell(&self) -> Result<(), StudyError> {
        match &self.told {
            Some(told) if !self.stop.load(Ordering::Relaxed) => told(self.latencies.count()),
            _ => Err(StudyError::Stopped),
        }
    }

    /// What the slice spent, given what this process and the devices spent around it.
    pub fn spent(&self, process: Spent) -> Spent {
        let (sync_ns, lock_ns) = (self.ns(self.sync_ticks), self.ns(self.lock_ticks));
        let here = Spent { sync_ns, lock_ns, ..self.counted };
        let Some((workers, theirs)) = self.workers else {
            let own = with_process(here, self.program.unwrap_or(process));
            let Spent { run_queue_ns, calls, device, .. } = process;
            return Spent { elapsed_ns: self.elapsed_ns(), run_queue_ns, calls, device, ..own };
        };
        let (run_queue_ns, device, both) = (theirs.run_queue_ns, process.device, here.plus(theirs));
        let (calls, both) = match workers {
            WorkersAre::Threads => (process.calls, with_process(both, process)),
            WorkersAre::Processes => (theirs.calls, both),
        };
        Spent { run_queue_ns, calls, device, ..both }
    }

    /// From start to finish; of workers, the sum of what each saw; where operations come
    /// at a rate, the sum of their latencies.
    pub fn elapsed_ns(&self) -> u64 {
        if let Some((_, theirs)) = self.workers {
            return theirs.elapsed_ns;
        }
        if self.pauses {
            return self.ns(self.latencies.sum());
        }
        self.clock.between(self.started, self.ended).as_nanos() as u64
    }

    fn ns(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.clock.tick_ns()) as u64
    }

    /// The latencies, in ticks.
    pub fn latencies(&self) -> &Histogram {
        &self.latencies
    }
}

/// With what the system counts for a whole process.
fn with_process(spent: Spent, process: Spent) -> Spent {
    Spent {
        user_ns: process.user_ns,
        system_ns: process.system_ns,
        minor_faults: process.minor_faults,
        major_faults: process.major_faults,
        voluntary_switches: process.voluntary_switches,
        involuntary_switches: process.involuntary_switches,
        ..spent
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::spent::{Calls, DeviceTraffic};

    use super::*;

    fn timer() -> SliceTimer {
        SliceTimer::new(Clock::new(), StopFlag::default())
    }

    fn spent(timer: &SliceTimer) -> Spent {
        timer.spent(Spent::default())
    }

    #[test]
    fn laps_add_up_to_the_elapsed_time() {
        let mut r = timer();
        r.start();
        for _ in 0..1000 {
            std::hint::black_box([0_u8; 256]);
            r.lap();
        }
        r.finish();
        assert_eq!(r.latencies().count(), 1000);
        assert!(r.latencies().sum() > 0);
        // Nothing between two operations goes uncounted, and nothing twice.
        assert_eq!(r.latencies().sum(), r.last_ticks() - r.started);
        let laps_ns = r.latencies().sum() as f64 * r.clock.tick_ns();
        assert!(laps_ns <= r.elapsed_ns() as f64 + 1.0);
    }

    #[test]
    fn what_comes_after_the_clock_was_stopped_counts_once_it_is_stopped_again() {
        let mut r = timer();
        r.start();
        r.finish();
        let elapsed_ns = r.elapsed_ns();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(r.elapsed_ns(), elapsed_ns);
        r.finish();
        assert!(r.elapsed_ns() >= elapsed_ns + 1_900_000);
    }

    #[test]
    fn of_an_operation_that_was_timed_elsewhere_nothing_else_counts() {
        let mut r = timer();
        r.start();
        let began = r.started;
        std::thread::sleep(Duration::from_millis(30));
        r.lap_of(Spent { elapsed_ns: 5_000_000, user_ns: 4_000_000, ..Spent::default() });
        r.finish();
        assert!(r.clock.between(began, r.started) >= Duration::from_millis(25));
        let latency_ns = r.latencies().max() as f64 * r.clock.tick_ns();
        assert!(latency_ns >= 4_900_000.0 && latency_ns <= r.elapsed_ns() as f64 * 1.01);
        let around = Spent { user_ns: 9_000_000, ..Spent::default() };
        assert_eq!(r.spent(around).user_ns, 4_000_000);
        // No more than there was.
        r.start();
        let began = r.started;
        r.lap_of(Spent { elapsed_ns: 1_000_000_000, ..Spent::default() });
        assert_eq!(r.started, began);
    }

    #[test]
    fn sync_is_counted_within_its_operation() {
        let mut r = timer();
        r.start();
        r.sync(|| std::thread::sleep(std::time::Duration::from_millis(2)));
        r.lap();
        r.finish();
        let Spent { sync_calls, sync_ns, elapsed_ns, .. } = spent(&r);
        assert_eq!(sync_calls, 1);
        assert!(sync_ns >= 1_900_000 && sync_ns <= elapsed_ns);
        assert!(r.latencies().max() as f64 * r.clock.tick_ns() >= 1_900_000.0);
    }

    #[test]
    fn at_a_rate_the_latencies_are_the_time_and_the_pauses_are_not() {
        let mut r = timer();
        r.start();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let intended = r.clock.ticks();
        r.lap_from(intended);
        r.finish();
        let latency_ns = r.latencies().sum() as f64 * r.clock.tick_ns();
        assert!((r.elapsed_ns() as f64 - latency_ns).abs() <= 1.0);
        assert_eq!(r.latencies().count(), 1);
    }

    /// A slice that workers did, and what this process spent around it.
    fn slice_of(workers: WorkersAre) -> (SliceTimer, Spent) {
        let mut r = timer();
        r.start();
        let theirs = Spent {
            elapsed_ns: 1000,
            user_ns: 400,
            sync_calls: 3,
            sync_ns: 7,
            major_faults: 5,
            run_queue_ns: Some(11),
            calls: Some(Calls { writes: 2, ..Calls::default() }),
            requested_bytes: 70,
            ..Spent::default()
        };
        r.absorb(workers, theirs, [(10, 4), (30, 1)]);
        r.requested(30);
        r.finish();
        let process = Spent {
            elapsed_ns: 77,
            user_ns: 900,
            major_faults: 6,
            run_queue_ns: Some(88),
            calls: Some(Calls { writes: 9, ..Calls::default() }),
            device: Some(DeviceTraffic { written_bytes: 4096, ..DeviceTraffic::default() }),
            ..Spent::default()
        };
        (r, process)
    }

    #[test]
    fn workers_times_and_counts_replace_what_passed_here() {
        for workers in [WorkersAre::Threads, WorkersAre::Processes] {
            let (mut r, process) = slice_of(workers);
            let spent = r.spent(process);
            assert_eq!((spent.elapsed_ns, spent.sync_calls, spent.sync_ns), (1000, 3, 7));
            assert_eq!((spent.requested_bytes, spent.run_queue_ns), (100, Some(11)));
            assert_eq!(spent.device, process.device);
            assert_eq!((r.latencies().count(), r.latencies().max()), (5, 30));
            r.start();
            r.finish();
            assert_eq!((r.spent(process).sync_calls, r.spent(process).user_ns), (0, 900));
        }
    }

    #[test]
    fn what_the_system_counts_for_a_process_is_of_the_process_that_worked() {
        let (threads, process) = slice_of(WorkersAre::Threads);
        let spent = threads.spent(process);
        assert_eq!((spent.user_ns, spent.major_faults, spent.calls), (900, 6, process.calls));
        let (processes, process) = slice_of(WorkersAre::Processes);
        let spent = processes.spent(process);
        let calls = Calls { writes: 2, ..Calls::default() };
        assert_eq!((spent.user_ns, spent.major_faults, spent.calls), (400, 5, Some(calls)));
    }

    #[test]
    fn time_for_locks_is_part_of_the_operations_and_never_more() {
        let mut r = timer();
        r.start();
        for _ in 0..20 {
            r.lock(|| std::thread::sleep(std::time::Duration::from_millis(1)));
            std::thread::sleep(std::time::Duration::from_millis(1));
            r.lap();
        }
        r.finish();
        let Spent { lock_calls, lock_ns, elapsed_ns, .. } = spent(&r);
        assert_eq!(lock_calls, 20);
        assert!(lock_ns >= 19_000_000, "{lock_ns}");
        assert!(lock_ns + 19_000_000 <= elapsed_ns, "{lock_ns}");
        r.start();
        r.finish();
        assert_eq!((spent(&r).lock_calls, spent(&r).lock_ns), (0, 0));
    }

    #[test]
    fn each_operation_is_told_until_the_run_is_stopped_or_the_teller_fails() {
        let told = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let to = std::rc::Rc::clone(&told);
        let tell = move |done| {
            to.borrow_mut().push(done);
            if done < 3 { Ok(()) } else { Err(StudyError::Worker("enough".to_owned())) }
        };
        let stop = StopFlag::default();
        let mut r = SliceTimer::telling(Clock::new(), StopFlag::clone(&stop), Box::new(tell));
        r.start();
        for _ in 0..2 {
            r.lap();
            assert!(r.check_stop().is_ok());
        }
        r.lap();
        assert!(matches!(r.check_stop(), Err(StudyError::Worker(_))));
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(r.check_stop(), Err(StudyError::Stopped)));
        assert_eq!(*told.borrow(), [1, 2, 3]);
    }

    #[test]
    fn a_raised_flag_stops_the_slice() {
        let stop = StopFlag::default();
        let r = SliceTimer::new(Clock::new(), StopFlag::clone(&stop));
        assert!(r.check_stop().is_ok());
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(r.check_stop(), Err(StudyError::Stopped)));
    }
}
