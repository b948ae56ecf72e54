//! The clock: the processor's cycle counter where it can be trusted.
//!
//! quanta reads the counter when the kernel itself trusts it as a clock source
//! and falls back to `CLOCK_MONOTONIC` elsewhere. Ticks are kept raw while the
//! clock runs and are scaled afterwards, for scaling costs as much as reading.

use std::time::Duration;

use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::root::Root;

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// Reads ticks, and knows how long one is.
#[derive(Clone)]
pub struct Clock {
    counter: Counter,
    tick_ns: f64,
}

#[derive(Clone)]
enum Counter {
    /// Whatever quanta found.
    Own(quanta::Clock),
    /// The processor's cycle counter, known to be trusted.
    #[cfg(target_arch = "x86_64")]
    Cycles,
    /// In tests: time that passes when it is told to, and a little with each reading.
    #[cfg(any(test, feature = "fixture"))]
    Simulated { now: std::sync::Arc<std::sync::atomic::AtomicU64>, reading: u64 },
}

/// A clock as one process of a run describes it to another, for calibrating takes
/// longer than starting a process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockTold {
    /// Whether ticks are the processor's cycle counter.
    pub cycles: bool,
    /// Nanoseconds per tick.
    pub tick_ns: f64,
}

/// `CLOCK_MONOTONIC`, which all processes of a machine share. Read through the vdso, in
/// some 30 ns.
#[inline]
pub fn monotonic_ns() -> u64 {
    to_ns(clock_gettime(ClockId::Monotonic))
}

/// Which clock [`monotonic_ns`] reads: that of a boot of a machine, and of a time namespace
/// there. Nothing where that is not told.
pub fn monotonic_name() -> Option<String> {
    let boot = Root::real().attribute("/proc/sys/kernel/random/boot_id")?;
    // Before Linux 5.6 there is no such namespace.
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    Some(format!("{boot} {}", namespace.display()))
}

/// Processor time that the calling thread has used.
pub fn thread_cpu_ns() -> u64 {
    to_ns(clock_gettime(ClockId::ThreadCPUTime))
}

fn to_ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}

/// A moment or a span as the system calls want it.
pub fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / SECOND_NS).cast_signed(), tv_nsec: (ns % SECOND_NS).cast_signed() }
}

/// The ticks in which `/proc` counts processor time (`USER_HZ`), as nanoseconds.
pub(crate) fn ticks_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(SECOND_NS / clock_ticks_per_second())
}

/// The two clocks, read together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// The counter.
    pub ticks: u64,
    /// `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
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
        let clock = Self { counter: Counter::Own(counter), tick_ns };
        // Found to be readable, the counter is read without asking again.
        Self::told_or(clock.tell(), || clock)
    }

    /// The clock that another process of the run told of; calibrated anew where
    /// it is not one that can be read without.
    pub fn told(told: ClockTold) -> Self {
        Self::told_or(told, Self::new)
    }

    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "cycles are read without asking on x86-64 alone")
    )]
    fn told_or(told: ClockTold, otherwise: impl FnOnce() -> Self) -> Self {
        #[cfg(target_arch = "x86_64")]
        if told.cycles {
            return Self { counter: Counter::Cycles, tick_ns: told.tick_ns };
        }
        otherwise()
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
            #[cfg(target_arch = "x86_64")]
            Counter::Cycles => sys::clock::cycles(),
            #[cfg(any(test, feature = "fixture"))]
            Counter::Simulated { now, reading } => {
                now.fetch_add(*reading, std::sync::atomic::Ordering::Relaxed) + reading
            }
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

    /// Both clocks at one moment: of several readings of one between two of the other,
    /// that with the least time between the two, which was not disturbed.
    pub fn moment(&self) -> Moment {
        const FURTHER_TRIES: usize = 15;
        let once = || {
            let (before, ticks, after) = (monotonic_ns(), self.ticks(), monotonic_ns());
            (after - before, Moment { ticks, monotonic_ns: before.midpoint(after) })
        };
        let further = (0..FURTHER_TRIES).map(|_| once());
        further.fold(once(), |best, next| if next.0 < best.0 { next } else { best }).1
    }

    /// By what share the ticks since an earlier moment differ from the system's time.
    /// Nothing where less than a second has passed, which says little.
    pub fn off_by(&self, earlier: Moment) -> Option<f64> {
        const LEAST_NS: u64 = SECOND_NS;
        let now = self.moment();
        let passed_ns = now.monotonic_ns.saturating_sub(earlier.monotonic_ns);
        (passed_ns >= LEAST_NS).then(|| self.ahead(earlier, now))
    }

    /// By what share more time passed between two moments by the ticks than by the
    /// system's clock; 0 where no time passed.
    pub fn ahead(&self, earlier: Moment, later: Moment) -> f64 {
        let counted_ns = later.ticks.saturating_sub(earlier.ticks) as f64 * self.tick_ns;
        let passed_ns = later.monotonic_ns.saturating_sub(earlier.monotonic_ns) as f64;
        if passed_ns > 0.0 { counted_ns / passed_ns - 1.0 } else { 0.0 }
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

#[cfg(any(test, feature = "fixture"))]
impl Clock {
    /// A clock of nanoseconds for tests. It begins at 0 and goes on by `reading` whenever
    /// it is read, and when it is told to; its clones go with it.
    pub fn simulated(reading: u64) -> Self {
        Self {
            counter: Counter::Simulated { now: std::sync::Arc::default(), reading },
            tick_ns: 1.0,
        }
    }

    /// Lets simulated time pass; of a real clock, none.
    pub fn advance(&self, ns: u64) {
        if let Counter::Simulated { now, .. } = &self.counter {
            now.fetch_add(ns, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_fast_is_ahead() {
        let clock = Clock { tick_ns: 0.5, ..Clock::new() };
        let at = |ticks, monotonic_ns| Moment { ticks, monotonic_ns };
        let ahead_ppm = |later| clock.ahead(at(500, 1_000), later) * 1e6;
        let ahead = ahead_ppm(at(2_000_700, 1_001_000));
        assert!((ahead - 100.0).abs() < 1e-6, "{ahead}");
        assert!(ahead_ppm(at(1_900_500, 1_001_000)) < 0.0);
        assert!(clock.ahead(at(5, 7), at(9, 7)).abs() < f64::EPSILON);
    }

    #[test]
    fn a_span_is_taken_apart_and_put_together() {
        assert_eq!(to_ns(timespec(3 * SECOND_NS + 7)), 3 * SECOND_NS + 7);
        // USER_HZ is 100 on every architecture that Linux still runs on.
        assert_eq!(ticks_ns(3), 30_000_000);
    }

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
