//! The library's clock, and `CLOCK_MONOTONIC`, which everything else is told in.

use std::fs;
use std::time::Duration;

use host::clock::{Clock, ClockTold, Moment};

/// For so long both are compared at the least.
const LEAST: Duration = Duration::from_millis(2);
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

/// The cycle counter where the kernel itself keeps time by it; nothing to convert elsewhere.
pub(super) struct Times {
    cycles: Option<Clock>,
    first: Moment,
    last: Moment,
}

impl Times {
    pub(super) fn new() -> Self {
        let is_trusted = fs::read_to_string(CLOCK_SOURCE).is_ok_and(|name| name.trim() == "tsc");
        let told = ClockTold { cycles: true, tick_ns: 1.0 };
        let cycles = is_trusted.then(|| Clock::told(told));
        let first = cycles.as_ref().map(Clock::moment).unwrap_or_default();
        let mut times = Self { cycles, first, last: first };
        if times.by_cycles() {
            std::thread::sleep(LEAST);
            times.compare();
        }
        times
    }

    /// For a library with the clock of this process.
    #[cfg(feature = "fuzz")]
    pub(super) fn same() -> Self {
        Self { cycles: None, first: Moment::default(), last: Moment::default() }
    }

    pub(super) fn by_cycles(&self) -> bool {
        self.cycles.is_some()
    }

    /// Reads both again: the longer they are compared, the better one is known by the other.
    pub(super) fn compare(&mut self) {
        let Some(clock) = &self.cycles else { return };
        let now = clock.moment();
        if now.ticks > self.first.ticks {
            self.last = now;
        }
    }

    pub(super) fn ns(&self, ticks: u64) -> u64 {
        if self.cycles.is_none() {
            return ticks;
        }
        let Self { first, last, .. } = self;
        let scale = (last.monotonic_ns - first.monotonic_ns) as f64
            / (last.ticks - first.ticks).max(1) as f64;
        let since = ticks.wrapping_sub(first.ticks).cast_signed() as f64 * scale;
        first.monotonic_ns.saturating_add_signed(since as i64)
    }
}

#[cfg(test)]
mod tests {
    use host::clock::monotonic_ns;

    use super::*;

    #[test]
    fn what_is_told_is_the_systems_time() {
        let mut times = Times::new();
        std::thread::sleep(Duration::from_millis(5));
        times.compare();
        let Some(clock) = &times.cycles else { return };
        let off = times.ns(clock.ticks()).abs_diff(monotonic_ns());
        assert!(off < 5_000_000, "{off} ns");
    }
}
