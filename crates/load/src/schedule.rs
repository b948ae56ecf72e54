//! When connections should start.
//!
//! An open loop decides its times before it knows how the server is doing.
//! Each intended time is the one before it plus a gap, never the actual start
//! plus a gap, so that a start that comes late makes none of the others late.

use model::load::Gap;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What drives a step.
pub(crate) enum Drive {
    Open(Box<Schedule>),
    Closed { concurrency: u32, requests: u64 },
}

/// The intended starts of one step, in nanoseconds after its beginning.
#[derive(Debug, Clone)]
pub struct Schedule {
    gap: Gap,
    mean_gap_ns: f64,
    next_ns: f64,
    left: u64,
    random: ChaCha8Rng,
}

impl Schedule {
    /// `count` starts at `rate` per second; the same seed gives the same
    /// times everywhere. The rate must be positive and finite.
    pub fn new(rate: f64, count: u64, gap: Gap, seed: u64) -> Self {
        assert!(rate.is_finite() && rate > 0.0, "a rate must be positive and finite, not {rate}/s");
        Self {
            gap,
            mean_gap_ns: 1e9 / rate,
            next_ns: 0.0,
            left: count,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// The mean gap, in nanoseconds.
    pub(crate) fn mean_gap_ns(&self) -> u64 {
        self.mean_gap_ns as u64
    }

    /// How many starts are still to come.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }
}

impl Iterator for Schedule {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        let at = self.next_ns as u64;
        let spread = match self.gap {
            Gap::Constant => 1.0,
            Gap::Uniform => 2.0 * self.random.random::<f64>(),
            // By inversion: 1 - u is never 0, whose logarithm would have no end.
            Gap::Exponential => -(1.0 - self.random.random::<f64>()).ln(),
        };
        self.next_ns += self.mean_gap_ns * spread;
        Some(at)
    }
}

/// Connections of a step at `rate`.
pub(crate) fn connections_for(rate: f64, given: Option<u64>, seconds: f64) -> u64 {
    given.unwrap_or((rate * seconds).round() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(gap: Gap, seed: u64) -> Vec<u64> {
        let times: Vec<u64> = Schedule::new(1000.0, 100_001, gap, seed).collect();
        assert_eq!(times.len(), 100_001);
        assert_eq!(times[0], 0);
        times.windows(2).map(|w| w[1] - w[0]).collect()
    }

    #[test]
    fn constant_gaps_do_not_drift() {
        let times: Vec<u64> = Schedule::new(300.0, 3001, Gap::Constant, 1).collect();
        assert!(times[3000].abs_diff(10_000_000_000) <= 1000, "{}", times[3000]);
        assert!(gaps(Gap::Constant, 1).iter().all(|g| g.abs_diff(1_000_000) <= 1));
    }

    #[test]
    fn random_gaps_have_the_mean_and_spread_that_they_claim() {
        // Coefficient of variation: 1/√3 for uniform on [0, 2m], 1 for exponential.
        for (gap, variation) in [(Gap::Uniform, 1.0 / 3.0_f64.sqrt()), (Gap::Exponential, 1.0)] {
            let gaps = gaps(gap, 7);
            let n = gaps.len() as f64;
            let mean = gaps.iter().sum::<u64>() as f64 / n;
            let variance = gaps.iter().map(|g| (*g as f64 - mean).powi(2)).sum::<f64>() / n;
            assert!((mean / 1e6 - 1.0).abs() < 0.02, "{gap:?}: mean gap {mean}");
            let seen = variance.sqrt() / mean;
            assert!((seen - variation).abs() < 0.02, "{gap:?}: variation {seen}");
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(gaps(Gap::Exponential, 3), gaps(Gap::Exponential, 3));
        assert_ne!(gaps(Gap::Exponential, 3), gaps(Gap::Exponential, 4));
    }
}
