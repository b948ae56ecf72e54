//! What the clock costs, how fine it is, and whether it keeps time.

use std::hint::black_box;

use model::run::Floor;
use model::selftest::ClockCheck;
use rustix::time::{ClockId, clock_gettime};

use crate::clock::Clock;

/// Readings in a row, in all some milliseconds.
const READINGS: u64 = 100_000;
const ROUNDS: u64 = 200;
/// Attempts to read both clocks with nothing in between.
const ATTEMPTS: usize = 16;

/// A check that goes on for as long as the run.
pub struct ClockWatch {
    clock: Clock,
    began: Both,
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct Both {
    ticks: u64,
    monotonic_ns: u64,
}

impl ClockWatch {
    /// Begins now.
    pub fn start(clock: Clock) -> Self {
        let began = Both::read(&clock);
        Self { clock, began }
    }

    /// What was seen, given what the recorder costs.
    pub fn finish(self, floor: &Floor) -> ClockCheck {
        let ended = Both::read(&self.clock);
        let readings = Readings::take(&self.clock);
        ClockCheck {
            source: floor.clock.clone(),
            record_ns: floor.record_ns,
            read_ns: readings.each_ticks * self.clock.tick_ns(),
            resolution_ns: readings.step_ticks_min as f64 * self.clock.tick_ns(),
            backward_steps: readings.backward_steps,
            ahead_of_monotonic_ppm: ahead_ppm(self.began, ended, self.clock.tick_ns()),
        }
    }
}

impl Both {
    /// The pair of readings, of several, that lay closest together.
    fn read(clock: &Clock) -> Self {
        let attempt = || {
            let before_ns = monotonic_ns();
            let ticks = clock.ticks();
            let after_ns = monotonic_ns();
            let apart_ns = after_ns.saturating_sub(before_ns);
            (apart_ns, Self { ticks, monotonic_ns: before_ns + apart_ns / 2 })
        };
        let first = attempt();
        let best = (1..ATTEMPTS)
            .map(|_| attempt())
            .fold(first, |best, next| if next.0 < best.0 { next } else { best });
        best.1
    }
}

/// By how many millionths more time passed by the ticks than by the other clock.
fn ahead_ppm(began: Both, ended: Both, tick_ns: f64) -> f64 {
    let ticked_ns = ended.ticks.saturating_sub(began.ticks) as f64 * tick_ns;
    let passed_ns = ended.monotonic_ns.saturating_sub(began.monotonic_ns) as f64;
    if passed_ns > 0.0 { (ticked_ns / passed_ns - 1.0) * 1e6 } else { 0.0 }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
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
    fn a_clock_that_runs_fast_is_ahead() {
        let at = |ticks, monotonic_ns| Both { ticks, monotonic_ns };
        let ahead = ahead_ppm(at(500, 1_000), at(2_000_700, 1_001_000), 0.5);
        assert!((ahead - 100.0).abs() < 1e-6, "{ahead}");
        assert!(ahead_ppm(at(500, 1_000), at(1_900_500, 1_001_000), 0.5) < 0.0);
    }

    #[test]
    fn the_real_clock_is_read_at_a_cost_and_steps_forward() {
        let watch = ClockWatch::start(Clock::new());
        let floor =
            Floor { record_ns: 20.0, clock: "tsc".to_owned(), tick_ns: 1.0, clock_off_by: None };
        let check = watch.finish(&floor);
        assert!(check.read_ns > 0.0 && check.resolution_ns > 0.0, "{check:?}");
        assert!(check.resolution_ns < 1e6, "{check:?}");
    }
}
