//! Times every operation from one reading of the clock per operation.
//!
//! An operation begins where the one before it ended, so nothing between two
//! operations goes uncounted, and the recorder's own cost (some nanoseconds,
//! measured in every run) is part of every toll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stats::Histogram;

use crate::clock::Clock;
use crate::study::StudyError;

/// One lock in so many is timed. Taking a free lock costs little more than reading
/// the clock twice, which every record of a locking logger would be charged for.
const LOCKS_PER_TIMED: u64 = 8;

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

    /// Forces data to the device as part of the current operation, under a
    /// clock of its own.
    pub fn sync<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let before = self.clock.ticks();
        let result = call();
        self.sync_ticks += self.clock.ticks().saturating_sub(before);
        self.sync_calls += 1;
        result
    }

    /// Takes a lock as part of the current operation. The first of every eight is
    /// timed, and stands for the others.
    #[inline]
    pub fn lock<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let timed = self.lock_calls.is_multiple_of(LOCKS_PER_TIMED);
        self.lock_calls += 1;
        if !timed {
            return call();
        }
        let before = self.clock.ticks();
        let result = call();
        self.lock_ticks += self.clock.ticks().saturating_sub(before);
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

    /// From start to finish.
    pub fn elapsed_ns(&self) -> u64 {
        self.clock.between(self.started, self.ended).as_nanos() as u64
    }

    /// Time within [`Recorder::sync`].
    pub fn sync_ns(&self) -> u64 {
        (self.sync_ticks as f64 * self.clock.tick_ns()) as u64
    }

    /// How often [`Recorder::sync`] was called.
    pub fn sync_calls(&self) -> u64 {
        self.sync_calls
    }

    /// Time within [`Recorder::lock`], going by the calls that were timed.
    pub fn lock_ns(&self) -> u64 {
        let timed = self.lock_calls.div_ceil(LOCKS_PER_TIMED).max(1);
        let ticks = self.lock_ticks as f64 * self.lock_calls as f64 / timed as f64;
        (ticks * self.clock.tick_ns()) as u64
    }

    /// How often [`Recorder::lock`] was called.
    pub fn lock_calls(&self) -> u64 {
        self.lock_calls
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
    fn the_locks_that_are_timed_stand_for_all() {
        let mut r = recorder();
        r.start();
        for _ in 0..20 {
            r.lock(|| std::thread::sleep(std::time::Duration::from_millis(1)));
        }
        r.finish();
        assert_eq!(r.lock_calls(), 20);
        // Three of twenty were timed; as they stand for all, at least 20 ms are told.
        assert!(r.lock_ns() >= 19_000_000, "{}", r.lock_ns());
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
