//! What the clock costs, how fine it is, and whether it keeps time.

use std::hint::black_box;

use host::clock::{Clock, Moment};
use model::run::Floor;
use model::selftest::ClockCheck;

/// Readings in a row, in all some milliseconds.
const READINGS: u64 = 100_000;
const ROUNDS: u64 = 200;

/// A check that goes on for as long as the run.
pub(super) struct ClockWatch {
    clock: Clock,
    began: Moment,
}

impl ClockWatch {
    /// Begins now.
    pub(super) fn start(clock: Clock) -> Self {
        let began = clock.moment();
        Self { clock, began }
    }

    /// What was seen, given what the recorder costs.
    pub(super) fn finish(self, floor: &Floor) -> ClockCheck {
        let ended = self.clock.moment();
        let readings = Readings::take(&self.clock);
        ClockCheck {
            source: floor.clock.clone(),
            record_ns: floor.record_ns,
            read_ns: readings.each_ticks * self.clock.tick_ns(),
            resolution_ns: readings.step_ticks_min as f64 * self.clock.tick_ns(),
            backward_steps: readings.backward_steps,
            ahead_of_monotonic_ppm: self.clock.ahead(self.began, ended) * 1e6,
        }
    }
}

struct Readings {
    each_ticks: f64,
    step_ticks_min: u64,
    backward_steps: u64,
}

impl Readings {
    fn take(clock: &Clock) -> Self {
        let rounds = (0..ROUNDS).map(|_| {
            let began = clock.ticks();
            for _ in 0..READINGS / ROUNDS {
                black_box(clock.ticks());
            }
            (clock.ticks().saturating_sub(began)) as f64 / (READINGS / ROUNDS) as f64
        });
        // The shortest round is the one that nobody disturbed.
        let each_ticks = rounds.fold(f64::INFINITY, f64::min);
        let (mut step_ticks_min, mut backward_steps) = (u64::MAX, 0);
        let mut last = clock.ticks();
        for _ in 0..READINGS {
            let now = clock.ticks();
            backward_steps += u64::from(now < last);
            if now > last {
                step_ticks_min = step_ticks_min.min(now - last);
            }
            last = now;
        }
        Self { each_ticks, step_ticks_min, backward_steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_clock_is_read_at_a_cost_and_steps_forward() {
        let watch = ClockWatch::start(Clock::new());
        let floor = Floor { record_ns: 20.0, tick_ns: 1.0, ..Floor::default() };
        let check = watch.finish(&floor);
        assert!(check.read_ns > 0.0 && check.resolution_ns > 0.0, "{check:?}");
        assert!(check.resolution_ns < 1e6, "{check:?}");
    }
}
