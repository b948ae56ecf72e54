//! Times every operation from one reading of the clock per operation.
//!
//! An operation begins where the one before it ended, so nothing between two
//! operations goes uncounted, and the recorder's own cost (some nanoseconds,
//! measured in every run) is part of every toll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use host::clock::Clock;
use model::spent::Calls;
use stats::Histogram;

use crate::study::StudyError;

/// Told by a signal handler, or anyone, that the run should end.
pub type StopFlag = Arc<AtomicBool>;

/// Gathers one slice's latencies, in ticks.
pub struct Recorder {
    clock: Clock,
    stop: StopFlag,
    latencies: Histogram,
    started: u64,
    last: u64,
    ended: u64,
    sync_ticks: u64,
    sync_calls: u64,
    lock_ticks: u64,
    lock_calls: u64,
    backward_steps: u64,
    pauses: bool,
    elsewhere: Option<Elsewhere>,
}

/// What workers in other threads or processes spent on a slice, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// The time that each of them saw.
    pub elapsed_ns: u64,
    /// Processor time in their own code, of processes alone: a thread's time is
    /// in this process's.
    pub user_ns: u64,
    /// Processor time in the kernel, likewise.
    pub system_ns: u64,
    /// Calls that forced data to the device.
    pub sync_calls: u64,
    /// Time within those calls.
    pub sync_ns: u64,
    /// Calls that took a lock.
    pub lock_calls: u64,
    /// Time within those calls.
    pub lock_ns: u64,
    /// Time ready to run and waiting for a processor, where all of them know it.
    pub run_queue_ns: Option<u64>,
    /// Reads and writes of processes, where all of them know it.
    pub calls: Option<Calls>,
}

impl Recorder {
    /// A recorder that asks `stop` whether to go on.
    pub fn new(clock: Clock, stop: StopFlag) -> Self {
        Self {
            clock,
            stop,
            latencies: Histogram::new(),
            started: 0,
            last: 0,
            ended: 0,
            sync_ticks: 0,
            sync_calls: 0,
            lock_ticks: 0,
            lock_calls: 0,
            backward_steps: 0,
            pauses: false,
            elsewhere: None,
        }
    }

    /// Forgets the slice before and starts the clock.
    pub fn start(&mut self) {
        self.latencies.clear();
        self.sync_ticks = 0;
        self.sync_calls = 0;
        self.lock_ticks = 0;
        self.lock_calls = 0;
        self.backward_steps = 0;
        self.pauses = false;
        self.elsewhere = None;
        self.started = self.clock.ticks();
        self.last = self.started;
        self.ended = self.started;
    }

    /// Ends one operation and begins the next.
    #[inline]
    pub fn lap(&mut self) {
        let now = self.clock.ticks();
        if now < self.last {
            self.backward_steps += 1;
        }
        self.latencies.record(now.saturating_sub(self.last));
        self.last = now;
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

    /// Takes in what workers elsewhere timed in this slice, instead of what was
    /// timed here: latencies as pairs of ticks and how often, and their totals.
    pub fn stand_for(
        &mut self,
        elsewhere: Elsewhere,
        latencies: impl IntoIterator<Item = (u64, u64)>,
    ) {
        for (ticks, times) in latencies {
            self.latencies.record_many(ticks, times);
        }
        self.elsewhere = Some(elsewhere);
    }

    /// What workers elsewhere spent, where they did the slice's work.
    pub fn elsewhere(&self) -> Option<Elsewhere> {
        self.elsewhere
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
        self.sync_calls += 1;
        result
    }

    /// Takes in calls that forced data to the device as part of the operations, and
    /// that someone else has timed: a library that does its own.
    pub fn synced(&mut self, calls: u64, took_ns: u64) {
        self.sync_calls += calls;
        self.sync_ticks += (took_ns as f64 / self.clock.tick_ns()) as u64;
    }

    /// Takes a lock as the first thing of the current operation, which began
    /// where the one before ended: one more reading of the clock times it.
    #[inline]
    pub fn lock<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let before = if self.pauses { self.clock.ticks() } else { self.last };
        let result = call();
        self.lock_ticks += self.clock.ticks().saturating_sub(before);
        self.lock_calls += 1;
        result
    }

    /// Stops the clock.
    pub fn finish(&mut self) {
        self.ended = self.clock.ticks();
    }

    /// An error once the run has been told to end. Cheap enough to ask often.
    #[inline]
    pub fn check_stop(&self) -> Result<(), StudyError> {
        if self.stop.load(Ordering::Relaxed) { Err(StudyError::Stopped) } else { Ok(()) }
    }

    /// From start to finish; of workers elsewhere, the sum of what each saw;
    /// where operations come at a rate, the sum of their latencies.
    pub fn elapsed_ns(&self) -> u64 {
        if let Some(elsewhere) = self.elsewhere {
            return elsewhere.elapsed_ns;
        }
        if self.pauses {
            return (self.latencies.sum() as f64 * self.clock.tick_ns()) as u64;
        }
        self.clock.between(self.started, self.ended).as_nanos() as u64
    }

    /// Time within [`Recorder::sync`].
    pub fn sync_ns(&self) -> u64 {
        if let Some(elsewhere) = self.elsewhere {
            return elsewhere.sync_ns;
        }
        (self.sync_ticks as f64 * self.clock.tick_ns()) as u64
    }

    /// How often [`Recorder::sync`] was called.
    pub fn sync_calls(&self) -> u64 {
        self.elsewhere.map_or(self.sync_calls, |elsewhere| elsewhere.sync_calls)
    }

    /// Time within [`Recorder::lock`].
    pub fn lock_ns(&self) -> u64 {
        if let Some(elsewhere) = self.elsewhere {
            return elsewhere.lock_ns;
        }
        (self.lock_ticks as f64 * self.clock.tick_ns()) as u64
    }

    /// How often [`Recorder::lock`] was called.
    pub fn lock_calls(&self) -> u64 {
        self.elsewhere.map_or(self.lock_calls, |elsewhere| elsewhere.lock_calls)
    }

    /// How often the clock ran backwards.
    pub fn backward_steps(&self) -> u64 {
        self.backward_steps
    }

    /// The latencies, in ticks.
    pub fn latencies(&self) -> &Histogram {
        &self.latencies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> Recorder {
        Recorder::new(Clock::new(), StopFlag::default())
    }

    #[test]
    fn laps_add_up_to_the_elapsed_time() {
        let mut r = recorder();
        r.start();
        for _ in 0..1000 {
            std::hint::black_box([0_u8; 256]);
            r.lap();
        }
        r.finish();
        assert_eq!(r.latencies().count(), 1000);
        let laps_ns = r.latencies().sum() as f64 * r.clock.tick_ns();
        assert!(laps_ns <= r.elapsed_ns() as f64 * 1.01 + 100.0);
    }

    #[test]
    fn sync_is_counted_within_its_operation() {
        let mut r = recorder();
        r.start();
        r.sync(|| std::thread::sleep(std::time::Duration::from_millis(2)));
        r.lap();
        r.finish();
        assert_eq!(r.sync_calls(), 1);
        assert!(r.sync_ns() >= 1_900_000 && r.sync_ns() <= r.elapsed_ns());
        assert!(r.latencies().max() as f64 * r.clock.tick_ns() >= 1_900_000.0);
    }

    #[test]
    fn at_a_rate_the_latencies_are_the_time_and_the_pauses_are_not() {
        let mut r = recorder();
        r.start();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let intended = r.clock.ticks();
        r.lap_from(intended);
        r.finish();
        let latency_ns = r.latencies().sum() as f64 * r.clock.tick_ns();
        assert!((r.elapsed_ns() as f64 - latency_ns).abs() <= 1.0);
        assert_eq!(r.latencies().count(), 1);
    }

    #[test]
    fn workers_elsewhere_replace_what_was_timed_here() {
        let mut r = recorder();
        r.start();
        let spent =
            Elsewhere { elapsed_ns: 1000, sync_calls: 3, sync_ns: 7, ..Elsewhere::default() };
        r.stand_for(spent, [(10, 4), (30, 1)]);
        r.finish();
        assert_eq!((r.elapsed_ns(), r.sync_calls(), r.sync_ns()), (1000, 3, 7));
        assert_eq!((r.latencies().count(), r.latencies().max()), (5, 30));
        r.start();
        assert_eq!(r.elsewhere(), None);
    }

    #[test]
    fn time_for_locks_is_part_of_the_operations_and_never_more() {
        let mut r = recorder();
        r.start();
        for _ in 0..20 {
            r.lock(|| std::thread::sleep(std::time::Duration::from_millis(1)));
            std::thread::sleep(std::time::Duration::from_millis(1));
            r.lap();
        }
        r.finish();
        assert_eq!(r.lock_calls(), 20);
        assert!(r.lock_ns() >= 19_000_000, "{}", r.lock_ns());
        assert!(r.lock_ns() + 19_000_000 <= r.elapsed_ns(), "{}", r.lock_ns());
        r.start();
        r.finish();
        assert_eq!((r.lock_calls(), r.lock_ns()), (0, 0));
    }

    #[test]
    fn a_raised_flag_stops_the_slice() {
        let stop = StopFlag::default();
        let r = Recorder::new(Clock::new(), Arc::clone(&stop));
        assert!(r.check_stop().is_ok());
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(r.check_stop(), Err(StudyError::Stopped)));
    }
}
