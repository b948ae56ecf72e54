//! Two runs that were not interleaved: how far what they differ by can be told from what
//! runs of the same differ by anyway.
//!
//! How much runs of the same differ is told by runs that repeat each other ([`Variation`]), or
//! assumed. The interval is that of a difference of two levels, by Student's t.

use crate::stretches::{Interval, STRETCHES_MIN};
use crate::student::two_sided;
use crate::variation::{Scatter, Variation, sum};

/// What a run's level is assumed to differ by from the next one's, as a standard deviation
/// of its logarithm, where no repeated runs tell. Chosen high: on a quiet machine it is 1%
/// or 2%.
pub const ASSUMED_DEVIATION: f64 = 0.05;

/// The logarithm of an arm's time per operation in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The logarithm.
    pub log: f64,
    /// How well the run's stretches tell it: its standard error.
    pub error: f64,
    /// With how many degrees of freedom that is known.
    pub degrees: f64,
}

impl Level {
    /// The level of a run whose stretches had these logarithms; none where they are too few
    /// to tell how well it is known.
    pub fn new(log: f64, stretches: &[f64]) -> Option<Self> {
        let count = stretches.len() as f64;
        if stretches.len() < STRETCHES_MIN || !log.is_finite() {
            return None;
        }
        let degrees = count - 1.0;
        Some(Self { log, error: (squares(stretches) / degrees / count).sqrt(), degrees })
    }

    /// Where the level of this run lies, missing the truth in this share of cases.
    pub fn interval(&self, error_rate: f64) -> Interval {
        let reach = two_sided(error_rate, self.degrees) * self.error;
        Interval { estimate: self.log, low: self.log - reach, high: self.log + reach }
    }
}

fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// By how much one level lies above another, with an interval that misses the truth in this
/// share of cases. `None` where no repeated runs tell how much they vary.
pub fn difference(
    before: &Level,
    after: &Level,
    variation: Option<Variation>,
    error_rate: f64,
) -> Interval {
    let estimate = after.log - before.log;
    let scatter = |level: &Level| Scatter {
        variance: level.error.powi(2),
        degrees: level.degrees,
        unlike: 1.0,
    };
    let scatters = [scatter(before), scatter(after)];
    let (variance, degrees) = match variation {
        // What is assumed says nothing of what stretches scatter by, which comes on top.
        None => {
            let [before, after] = scatters.map(|of| (of.variance, of.degrees));
            sum(&[(2.0 * ASSUMED_DEVIATION.powi(2), f64::INFINITY), before, after])
        }
        Some(learned) => learned.of_runs(scatters),
    };
    let reach = two_sided(error_rate, degrees) * variance.sqrt();
    Interval { estimate, low: estimate - reach, high: estimate + reach }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn exact(log: f64) -> Level {
        Level { log, error: 0.0, degrees: 1.0 }
    }

    fn half_width(variation: Option<Variation>) -> f64 {
        let found = difference(&exact(0.0), &exact(0.1), variation, 0.05);
        assert!((found.estimate - 0.1).abs() < 1e-12);
        assert!((found.high - found.estimate - (found.estimate - found.low)).abs() < 1e-12);
        found.high - found.estimate
    }

    #[test]
    fn the_level_of_one_run_is_as_sure_as_its_stretches_agree() {
        let level = Level::new(0.0, &[-0.2, -0.1, 0.0, 0.1, 0.2]).unwrap();
        let Interval { estimate, low, high } = level.interval(0.05);
        // Four degrees of freedom, and a standard error of 0.0707.
        assert!((high - 2.776_445 * 0.005_f64.sqrt()).abs() < 1e-6 && estimate.abs() < 1e-12);
        assert!((low + high).abs() < 1e-12);
    }

    #[test]
    fn without_repeats_the_assumption_decides() {
        let assumed = half_width(None);
        assert!((assumed - 1.959_964 * 0.05 * 2_f64.sqrt()).abs() < 1e-6, "{assumed}");
    }

    #[test]
    fn with_repeats_students_t_of_what_they_vary_by_decides() {
        let learned = half_width(Some(Variation { deviation: 0.02, degrees: 4.0 }));
        assert!((learned - 2.776_445 * 0.02 * 2_f64.sqrt()).abs() < 1e-6, "{learned}");
    }

    #[test]
    fn a_run_whose_stretches_scatter_more_than_runs_do_counts_with_its_own() {
        let stretches: Vec<f64> = (0..10).map(|n| if n % 2 == 0 { 0.5 } else { -0.5 }).collect();
        let loose = Level::new(0.0, &stretches).unwrap();
        assert!((loose.error - 0.5 / 3.0).abs() < 1e-9, "{loose:?}");
        let learned = Some(Variation { deviation: 0.02, degrees: 4.0 });
        let wide = difference(&loose, &exact(0.0), learned, 0.05);
        assert!(wide.high > 2.0 * loose.error, "{wide:?} {loose:?}");
        assert_eq!(Level::new(0.0, &stretches[..STRETCHES_MIN - 1]), None);
        let few = Level::new(0.0, &stretches[..STRETCHES_MIN]).unwrap();
        assert!((few.degrees - 4.0).abs() < 1e-12 && few.error > loose.error, "{few:?}");
        assert_eq!(Level::new(f64::NAN, &stretches), None);
    }
}
