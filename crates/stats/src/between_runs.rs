//! Two runs that were not interleaved: how far what they differ by can be told from what
//! runs of the same differ by anyway.
//!
//! A run's stretches show how well its level is known. They do not show what stays the same
//! throughout a run and differs in the next: where memory lies, how full a device is, what
//! neighbours do that day. That is told by runs that repeat each other, or assumed. The
//! interval is that of a difference of two levels, by Student's t, with the degrees of
//! freedom of a sum of variances after Satterthwaite, "An approximate distribution of
//! estimates of variance components" (1946).

use crate::gamma::{digamma, trigamma, trigamma_inverse};
use crate::stretches::{Interval, STRETCHES_MIN};
use crate::student::two_sided;

/// What a run's level is assumed to differ by from the next one's, as a standard deviation
/// of its logarithm, where no repeated runs tell. Chosen high: on a quiet machine it is 1%
/// or 2%.
const ASSUMED_DEVIATION: f64 = 0.05;
/// Repeated runs tell nothing with fewer degrees of freedom than this: four runs of the same.
const DEGREES_MIN: usize = 3;
/// Runs are never believed to vary by less than this: two of them then differ by 2% in one of
/// 20 cases.
const DEVIATION_MIN: f64 = 0.007;

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
}

/// What the levels of runs of the same vary by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// The standard deviation of their logarithm.
    pub deviation: f64,
    /// How many degrees of freedom it was learned with; none where it is assumed.
    pub degrees: Option<usize>,
}

impl Variation {
    /// Where no repeated runs tell.
    pub const ASSUMED: Self = Self { deviation: ASSUMED_DEVIATION, degrees: None };

    /// What repeated runs tell: groups of log tolls of the same, which need not have the same
    /// mean. Where they are too few, it is assumed.
    pub fn learned(groups: &[Vec<f64>]) -> Self {
        let degrees: usize = groups.iter().map(|group| group.len().saturating_sub(1)).sum();
        if degrees < DEGREES_MIN {
            return Self::ASSUMED;
        }
        let squares: f64 = groups.iter().map(|group| squares(group)).sum();
        let deviation = (squares / degrees as f64).sqrt().max(DEVIATION_MIN);
        Self { deviation, degrees: Some(degrees) }
    }
}

/// Lets what arms vary by from run to run tell of each other: arms of one run are on one
/// machine, so that an arm whose few repeats happened to be alike varies more than they show.
/// Each learned variance is drawn towards that of all, the more so the less they differ
/// beyond what chance makes of them, and is known with as many more degrees of freedom.
/// Smyth, "Linear models and empirical Bayes methods for assessing differential expression
/// in microarray experiments" (2004), section 6.2.
pub fn moderate(variations: &mut [Variation]) {
    let learned = || variations.iter().filter_map(|v| Some((v.deviation.powi(2).ln(), v.degrees?)));
    let count = learned().count() as f64;
    if count < 2.0 {
        return;
    }
    let half = |degrees: usize| degrees as f64 / 2.0;
    // Of the logarithm of a variance with so many degrees, what chance adds to it.
    let centred: Vec<f64> =
        learned().map(|(log, d)| log - digamma(half(d)) + half(d).ln()).collect();
    let chance = learned().map(|(_, degrees)| trigamma(half(degrees))).sum::<f64>() / count;
    let mean = centred.iter().sum::<f64>() / count;
    let beyond = squares(&centred) / (count - 1.0) - chance;
    let all: usize = learned().map(|(_, degrees)| degrees).sum();
    // Where they differ by chance alone, all are one.
    let (prior, log) = if beyond > 0.0 {
        let half = trigamma_inverse(beyond);
        (2.0 * half, mean + digamma(half) - half.ln())
    } else {
        (f64::INFINITY, mean)
    };
    for Variation { deviation, degrees } in variations {
        let Some(own) = degrees else { continue };
        let weight = *own as f64 / (prior + *own as f64);
        let variance = weight * deviation.powi(2) + (1.0 - weight) * log.exp();
        *deviation = variance.sqrt().max(DEVIATION_MIN);
        // No more is known than there are runs.
        *own = (prior + *own as f64).min(all as f64) as usize;
    }
}

fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// By how much one level lies above another, with an interval that misses the truth in this
/// share of cases.
pub fn difference(
    before: &Level,
    after: &Level,
    variation: Variation,
    error_rate: f64,
) -> Interval {
    let estimate = after.log - before.log;
    let (variance, degrees) = match variation.degrees {
        // It says nothing of what stretches scatter by, which comes on top.
        None => sum(&[
            (2.0 * variation.deviation.powi(2), f64::INFINITY),
            (before.error.powi(2), before.degrees),
            (after.error.powi(2), after.degrees),
        ]),
        // It has the scatter of stretches in it, of runs that may have been longer.
        Some(degrees) => {
            let learned = variation.deviation.powi(2);
            let (own, shared): (Vec<&Level>, Vec<&Level>) =
                [before, after].into_iter().partition(|level| level.error.powi(2) > learned);
            let mut parts: Vec<(f64, f64)> =
                own.iter().map(|level| (level.error.powi(2), level.degrees)).collect();
            parts.push((learned * shared.len() as f64, degrees as f64));
            sum(&parts)
        }
    };
    let reach = two_sided(error_rate, degrees) * variance.sqrt();
    Interval { estimate, low: estimate - reach, high: estimate + reach }
}

/// The sum of variances that are known with so many degrees of freedom, and its own degrees.
fn sum(parts: &[(f64, f64)]) -> (f64, f64) {
    let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let doubt: f64 = parts.iter().map(|(variance, degrees)| variance.powi(2) / degrees).sum();
    (variance, if doubt > 0.0 { variance.powi(2) / doubt } else { f64::INFINITY })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn exact(log: f64) -> Level {
        Level { log, error: 0.0, degrees: 1.0 }
    }

    fn half_width(variation: Variation) -> f64 {
        let found = difference(&exact(0.0), &exact(0.1), variation, 0.05);
        assert!((found.estimate - 0.1).abs() < 1e-12);
        assert!((found.high - found.estimate - (found.estimate - found.low)).abs() < 1e-12);
        found.high - found.estimate
    }

    #[test]
    fn without_repeats_the_assumption_decides() {
        let assumed = half_width(Variation::ASSUMED);
        assert!((assumed - 1.959_964 * 0.05 * 2_f64.sqrt()).abs() < 1e-6, "{assumed}");
        let few = Variation::learned(&[vec![0.0, 0.001, 0.002]]);
        assert_eq!(few, Variation::ASSUMED);
    }

    #[test]
    fn repeats_of_both_sides_are_pooled_about_their_own_means() {
        let learned = Variation::learned(&[vec![1.0, 1.02, 1.04], vec![5.0, 5.02, 5.04], vec![]]);
        assert_eq!(learned.degrees, Some(4));
        assert!((learned.deviation - 0.02).abs() < 1e-12, "{learned:?}");
        // Student's t with 4 degrees of freedom.
        assert!((half_width(learned) - 2.776_445 * 0.02 * 2_f64.sqrt()).abs() < 1e-6);
        let alike = Variation::learned(&[vec![3.0; 9]]);
        assert!((alike.deviation - DEVIATION_MIN).abs() < 1e-12);
    }

    #[test]
    fn variances_that_differ_by_chance_alone_are_one_and_others_stay_apart() {
        let learned = |deviation| Variation { deviation, degrees: Some(4) };
        let mut alike = vec![learned(0.02); 10];
        alike.push(Variation::ASSUMED);
        moderate(&mut alike);
        assert_eq!(alike[0].degrees, Some(40));
        // A mean of logarithms of variances lies below the logarithm of the mean.
        assert!(alike[0].deviation > 0.02 && alike[0].deviation < 0.025, "{alike:?}");
        assert_eq!(alike[10], Variation::ASSUMED);
        let mut apart: Vec<Variation> =
            (0..10).map(|n| learned(0.01 * 3_f64.powi(n % 5))).collect();
        moderate(&mut apart);
        assert!(apart[0].degrees < Some(6), "{apart:?}");
        assert!(apart[0].deviation > 0.01 && apart[4].deviation < 0.81, "{apart:?}");
        assert!(apart[4].deviation > 20.0 * apart[0].deviation, "{apart:?}");
        let mut one = vec![learned(0.02), Variation::ASSUMED];
        moderate(&mut one);
        assert_eq!(one, [learned(0.02), Variation::ASSUMED]);
    }

    #[test]
    fn a_run_whose_stretches_scatter_more_than_runs_do_counts_with_its_own() {
        let stretches: Vec<f64> = (0..10).map(|n| if n % 2 == 0 { 0.5 } else { -0.5 }).collect();
        let loose = Level::new(0.0, &stretches).unwrap();
        assert!((loose.error - 0.5 / 3.0).abs() < 1e-9, "{loose:?}");
        let learned = Variation::learned(&[vec![1.0, 1.02, 1.04, 1.06, 1.08]]);
        let wide = difference(&loose, &exact(0.0), learned, 0.05);
        assert!(wide.high > 2.0 * loose.error, "{wide:?} {loose:?}");
        assert_eq!(Level::new(0.0, &stretches[..STRETCHES_MIN - 1]), None);
        let few = Level::new(0.0, &stretches[..STRETCHES_MIN]).unwrap();
        assert!((few.degrees - 4.0).abs() < 1e-12 && few.error > loose.error, "{few:?}");
        assert_eq!(Level::new(f64::NAN, &stretches), None);
    }
}
