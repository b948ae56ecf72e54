//! The clock: the processor's cycle counter where it can be trusted.
//!
//! quanta reads the counter when the kernel itself trusts it as a clock source
//! and falls back to `CLOCK_MONOTONIC` elsewhere. Ticks are kept raw while the
//! clock runs and are scaled afterwards, for scaling costs as much as reading.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Reads ticks, and knows how long one is.
#[derive(Clone)]
pub struct Clock {
    counter: Counter,
    tick_ns: f64,
}

#[derive(Clone)]
enum Counter {
    /// Calibrated by this process.
    Own(quanta::Clock),
    /// The processor's, calibrated by another process of the run.
    #[cfg(target_arch = "x86_64")]
    Cycles,
}

/// A clock as one process of a run tells it to another, for calibrating takes
/// longer than starting a process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockTold {
    /// Whether ticks are the processor's cycle counter.
    pub cycles: bool,
    /// Nanoseconds per tick.
    pub tick_ns: f64,
}

/// `CLOCK_MONOTONIC`, which all processes of a machine share.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The two clocks, read together.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    ticks: u64,
    monotonic_ns: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock {
    /// Calibrates the counter against the system's clock, in under 0.2 s.
    pub fn new() -> Self {
        const MANY_TICKS: u64 = 1 << 40;
        let counter = quanta::Clock::new();
        let tick_ns = counter.delta_as_nanos(0, MANY_TICKS) as f64 / MANY_TICKS as f64;
        Self { counter: Counter::Own(counter), tick_ns }
    }

    /// The clock that another process of the run told of; calibrated anew where
    /// it is not one that can be read without.
    pub fn told(told: ClockTold) -> Self {
        #[cfg(target_arch = "x86_64")]
        if told.cycles {
            return Self { counter: Counter::Cycles, tick_ns: told.tick_ns };
        }
        Self::new()
    }

    /// What to tell another process of the run.
    pub fn tell(&self) -> ClockTold {
        ClockTold { cycles: self.source() == "tsc", tick_ns: self.tick_ns }
    }

    /// The counter.
    #[inline]
    pub fn ticks(&self) -> u64 {
        match &self.counter {
            Counter::Own(counter) => counter.raw(),
            // SAFETY: reads the cycle counter, which every x86-64 processor has
            // and which the process that told of it found to be readable.
            #[cfg(target_arch = "x86_64")]
            Counter::Cycles => unsafe { std::arch::x86_64::_rdtsc() },
        }
    }

    /// Nanoseconds per tick.
    pub fn tick_ns(&self) -> f64 {
        self.tick_ns
    }

    /// The time between two readings; nothing if the second came before the first.
    pub fn between(&self, start: u64, end: u64) -> Duration {
        Duration::from_nanos((end.saturating_sub(start) as f64 * self.tick_ns) as u64)
    }

    /// Both clocks at one moment.
    pub fn moment(&self) -> Moment {
        const TRIES: usize = 5;
        // A reading between two that lie close together was not disturbed.
        let tries = (0..TRIES).map(|_| {
            let (before, ticks, after) = (monotonic_ns(), self.ticks(), monotonic_ns());
            (after - before, Moment { ticks, monotonic_ns: before.midpoint(after) })
        });
        tries.min_by_key(|(width, _)| *width).map_or_else(|| unreachable!("tried"), |(_, m)| m)
    }

    /// By what share the ticks since an earlier moment differ from the system's time.
    /// Nothing where less than a second has passed, which says little.
    pub fn off_by(&self, earlier: Moment) -> Option<f64> {
        const LEAST_NS: u64 = 1_000_000_000;
        let now = self.moment();
        let monotonic_ns = now.monotonic_ns.saturating_sub(earlier.monotonic_ns);
        let counted_ns = now.ticks.wrapping_sub(earlier.ticks) as f64 * self.tick_ns;
        (monotonic_ns >= LEAST_NS).then(|| counted_ns / monotonic_ns as f64 - 1.0)
    }

    /// `tsc` where ticks come from the cycle counter, `monotonic` otherwise.
    pub fn source(&self) -> &'static str {
        let apart_ns = self.ticks().abs_diff(monotonic_ns());
        // Read one after the other, the same clock differs by far less.
        let same_clock = apart_ns < 1_000_000_000 && (self.tick_ns - 1.0).abs() < f64::EPSILON;
        match (same_clock, cfg!(target_arch = "x86_64")) {
            (true, _) => "monotonic",
            (false, true) => "tsc",
            (false, false) => "cycle counter",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_counts_wrongly_is_seen_to_be_off() {
        let sound = Clock::new();
        let fast = Clock { tick_ns: sound.tick_ns * 1.01, ..sound.clone() };
        let began = sound.moment();
        assert_eq!(sound.off_by(began), None);
        let began = Moment {
            ticks: began.ticks.wrapping_sub((2e9 / sound.tick_ns) as u64),
            monotonic_ns: began.monotonic_ns - 2_000_000_000,
        };
        let off = |clock: &Clock| clock.off_by(began).map(f64::abs);
        assert!(off(&sound).is_some_and(|share| share < 0.001), "{:?}", off(&sound));
        assert!(off(&fast).is_some_and(|share| share > 0.009), "{:?}", off(&fast));
    }
}
