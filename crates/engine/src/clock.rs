//! The clock: the processor's cycle counter where it can be trusted.
//!
//! quanta reads the counter when the kernel itself trusts it as a clock source
//! and falls back to `CLOCK_MONOTONIC` elsewhere. Ticks are kept raw while the
//! clock runs and are scaled afterwards, for scaling costs as much as reading.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Reads ticks, and knows how long one is.
#[derive(Clone)]
pub struct Clock {
    counter: quanta::Clock,
    tick_ns: f64,
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
        Self { counter, tick_ns }
    }

    /// The counter.
    #[inline]
    pub fn ticks(&self) -> u64 {
        self.counter.raw()
    }

    /// Nanoseconds per tick.
    pub fn tick_ns(&self) -> f64 {
        self.tick_ns
    }

    /// The time between two readings; nothing if the second came before the first.
    pub fn between(&self, start: u64, end: u64) -> Duration {
        self.counter.delta(start, end)
    }

    /// `tsc` where ticks come from the cycle counter, `monotonic` otherwise.
    pub fn source(&self) -> &'static str {
        let now = clock_gettime(ClockId::Monotonic);
        let monotonic_ns = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
        let apart_ns = self.ticks().abs_diff(monotonic_ns);
        // Read one after the other, the same clock differs by far less.
        let same_clock = apart_ns < 1_000_000_000 && (self.tick_ns - 1.0).abs() < f64::EPSILON;
        match (same_clock, cfg!(target_arch = "x86_64")) {
            (true, _) => "monotonic",
            (false, true) => "tsc",
            (false, false) => "cycle counter",
        }
    }
}
