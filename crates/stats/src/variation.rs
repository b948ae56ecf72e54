//! How much runs of the same differ from one another.
//!
//! A run's stretches show how well its level is known. They do not show what stays the same
//! throughout a run and differs in the next: where memory lies, how full a device is, what
//! neighbours do that day. Saved runs of the same show it.
//!
//! It is learned from what runs differ by from those shortly before them, as von Neumann did from
//! neighbours, "Distribution of the ratio of the mean square successive difference to the
//! variance" (1941). Neighbours alone would not do: what a machine is like wanders, and they are
//! more alike than runs an hour apart. Where a level changed for good, as by a regression that was
//! saved several times, the series is cut, so that the change teaches nothing. A deviation from
//! the mean of all runs would grow with each run after a change.

use crate::median::median;

/// Fewer degrees of freedom than this say nothing.
const DEGREES_MIN: f64 = 2.0;
/// Runs are never believed to vary by less than this: two of them then differ by 2% in one of
/// 20 cases.
const DEVIATION_MIN: f64 = 0.007;
/// Runs are compared with this many before them.
const REACH: usize = 4;
/// A difference between neighbours of more than this many times the median one is a step, not
/// scatter. Of independent runs, one in 1,300 is taken for a step.
const STEP: f64 = 5.0;
/// At most one in this many differences between neighbours is a step. If more are as large, runs do
/// vary by as much: they have two levels, and go from one to the other by chance.
const STEPS_RARE: usize = 4;
/// How two comparisons of a run, or two arms, correlate on the whole. Those that share an arm
/// do by a half, others hardly. Any number of them tells no more than 1 / correlation² times,
/// eight times, what one tells.
const CORRELATION: f64 = 0.35;

/// What runs of the same vary by, as they showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// The standard deviation of their logarithm.
    pub deviation: f64,
    /// How many degrees of freedom it was learned with.
    pub degrees: f64,
}

impl Variation {
    /// What series of runs tell of it: logarithms in the order of time. Series need not have
    /// the same mean. None where no series has two runs.
    pub fn learned(series: &[Vec<f64>]) -> Option<Self> {
        let mut neighbours: Vec<f64> =
            series.iter().flat_map(|runs| differences(runs, 1)).collect();
        if neighbours.is_empty() {
            return None;
        }
        let usual = STEP * median(&mut neighbours);
        let steps = neighbours.iter().filter(|size| **size > usual).count();
        let usual = if steps * STEPS_RARE <= neighbours.len() { usual } else { f64::INFINITY };
        let parts = series.iter().flat_map(|runs| runs.chunk_by(|a, b| (b - a).abs() <= usual));
        let parts: Vec<&[f64]> = parts.collect();
        let within = |apart| parts.iter().flat_map(move |part| differences(part, apart));
        let squares: Vec<f64> = (1..=REACH).flat_map(within).map(|size| size.powi(2)).collect();
        // A difference of two runs has twice the variance of one.
        let variance = squares.iter().sum::<f64>() / squares.len() as f64 / 2.0;
        // Differences between neighbours share runs with one another; the wider ones add little.
        let count = within(1).count() as f64;
        let degrees = 2.0 * count.powi(2) / (3.0 * count - 1.0);
        Some(Self { deviation: variance.sqrt().max(DEVIATION_MIN), degrees })
    }

    /// The same, squared.
    pub(crate) fn variance(self) -> f64 {
        self.deviation.powi(2)
    }

    /// The variance of what differs from one run to the next, and its degrees of freedom,
    /// from the scatter of each run's own stretches and the factor by which its variance differs
    /// from that of saved runs.
    ///
    /// What was learned has the scatter of the saved runs in it. A run's own scatter counts
    /// instead where it is greater.
    pub(crate) fn of_runs(self, runs: [Scatter; 2]) -> (f64, f64) {
        let learned = self.variance();
        let (own, as_saved): (Vec<Scatter>, Vec<Scatter>) =
            runs.into_iter().partition(|run| run.variance > run.unlike * learned);
        let times: f64 = as_saved.iter().map(|run| run.unlike).sum();
        let of_own = own.iter().map(|run| (run.variance, run.degrees));
        sum(&of_own.chain([(times * learned, self.degrees)]).collect::<Vec<_>>())
    }
}

/// What the stretches of a run show of how well its level is known.
#[derive(Clone, Copy)]
pub(crate) struct Scatter {
    /// The variance of the level.
    pub(crate) variance: f64,
    /// With how many degrees of freedom that is known.
    pub(crate) degrees: f64,
    /// By how many times the variance of saved runs the run varies.
    pub(crate) unlike: f64,
}

/// The absolute differences between runs that are this far apart in their series.
fn differences(runs: &[f64], apart: usize) -> impl Iterator<Item = f64> {
    let pairs = runs.iter().zip(runs.iter().skip(apart));
    pairs.map(|(before, after)| (after - before).abs()).filter(|size| size.is_finite())
}

/// The sum of variances that are known with so many degrees of freedom, and the degrees of
/// freedom of that sum: Satterthwaite, "An approximate distribution of estimates of variance
/// components" (1946).
pub(crate) fn sum(parts: &[(f64, f64)]) -> (f64, f64) {
    let variance: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let doubt: f64 = parts.iter().map(|(variance, degrees)| variance.powi(2) / degrees).sum();
    (variance, if doubt > 0.0 { variance.powi(2) / doubt } else { f64::INFINITY })
}

/// Lets what arms or comparisons vary by from run to run tell of each other: they are of one
/// machine, so that one whose few repeats happened to be alike varies more than they show.
/// Each learned variance is drawn towards that of all, the more so the less they differ
/// beyond what chance makes of them, and is known with as many more degrees of freedom.
/// Where even then too little is known, nothing is left of it.
/// Smyth, "Linear models and empirical Bayes methods for assessing differential expression
/// in microarray experiments" (2004), section 6.2.
pub fn moderate(variations: &mut [Option<Variation>]) {
    let learned: Vec<Variation> = variations.iter().flatten().copied().collect();
    if let Some(common) = Common::of(&learned) {
        variations.iter_mut().flatten().for_each(|variation| common.draw(variation));
    }
    for variation in variations {
        *variation = variation.filter(|learned| learned.degrees >= DEGREES_MIN);
    }
}

/// What variances have in common.
struct Common {
    variance: f64,
    degrees: f64,
    /// So many times as much as one tells, all of them tell.
    independent: f64,
}

impl Common {
    fn of(learned: &[Variation]) -> Option<Self> {
        use crate::gamma::{digamma, trigamma, trigamma_inverse};
        if learned.len() < 2 {
            return None;
        }
        let count = learned.len() as f64;
        // Of the logarithm of a variance with so many degrees, what chance adds to it.
        let centred = |of: &Variation| {
            let half = of.degrees / 2.0;
            of.deviation.powi(2).ln() - digamma(half) + half.ln()
        };
        let centred: Vec<f64> = learned.iter().map(centred).collect();
        let chance = learned.iter().map(|of| trigamma(of.degrees / 2.0)).sum::<f64>() / count;
        let mean = centred.iter().sum::<f64>() / count;
        let squares: f64 = centred.iter().map(|value| (value - mean).powi(2)).sum();
        let beyond = squares / (count - 1.0) - chance;
        // Where they differ by chance alone, all are one.
        let (degrees, log) = if beyond > 0.0 {
            let half = trigamma_inverse(beyond);
            (2.0 * half, mean + digamma(half) - half.ln())
        } else {
            (f64::INFINITY, mean)
        };
        let independent = count / (1.0 + CORRELATION.powi(2) * (count - 1.0));
        Some(Self { variance: log.exp(), degrees, independent })
    }

    fn draw(&self, variation: &mut Variation) {
        let Variation { deviation, degrees } = *variation;
        let weight = degrees / (self.degrees + degrees);
        let variance = weight * deviation.powi(2) + (1.0 - weight) * self.variance;
        *variation = Variation {
            deviation: variance.sqrt().max(DEVIATION_MIN),
            // No more is known than the runs tell.
            degrees: (self.degrees + degrees).min(degrees * self.independent),
        };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn learned(series: &[f64]) -> Variation {
        Variation::learned(&[series.to_vec()]).unwrap()
    }

    #[test]
    fn it_is_learned_from_runs_that_are_near_in_time() {
        // Neighbours differ by 2, 4 and 2%, those that are two apart by 2% and 2%, the ends by none.
        let found = learned(&[1.0, 1.02, 0.98, 1.0]);
        assert!((found.deviation - (0.0032_f64 / 6.0 / 2.0).sqrt()).abs() < 1e-12, "{found:?}");
        assert!((found.degrees - 18.0 / 8.0).abs() < 1e-12, "{found:?}");
        assert_eq!(Variation::learned(&[vec![1.0], vec![]]), None);
        let both = Variation::learned(&[vec![1.0, 1.02], vec![5.0, 5.02]]).unwrap();
        assert!((both.deviation - 0.02 / 2_f64.sqrt()).abs() < 1e-12, "{both:?}");
        assert!((learned(&[3.0; 9]).deviation - DEVIATION_MIN).abs() < 1e-12);
        assert!(
            (learned(&[0.0, 0.02, f64::NAN, 0.0, 0.02]).deviation - both.deviation).abs() < 1e-12
        );
    }

    #[test]
    fn what_wanders_varies_by_more_than_neighbours_show() {
        let wave: Vec<f64> = (0..24).map(|n| 0.1 * (f64::from(n) * 0.5).sin()).collect();
        let found = learned(&wave).deviation;
        assert!((0.8..1.0).contains(&(found / (0.1 / 2_f64.sqrt()))), "{found}");
    }

    #[test]
    fn a_level_that_changed_for_good_teaches_nothing() {
        let quiet = [0.0, 0.02, -0.01, 0.01, 0.0, 0.02, 0.01];
        let slower = quiet.map(|log| log + 1.5_f64.ln());
        let regressed = learned(&[quiet, slower].concat());
        assert!(regressed.deviation < 1.2 * learned(&quiet).deviation, "{regressed:?}");
        // So it is where the regression was taken back.
        let repaired = learned(&[quiet, slower, quiet].concat());
        assert!(repaired.deviation < 1.2 * learned(&quiet).deviation, "{repaired:?}");
    }

    #[test]
    fn variances_that_differ_by_chance_alone_are_one_and_others_stay_apart() {
        let of = |deviation| Some(Variation { deviation, degrees: 4.0 });
        let mut alike = vec![of(0.02); 10];
        alike.push(None);
        moderate(&mut alike);
        let one = alike[0].unwrap();
        // A mean of logarithms of variances lies below the logarithm of the mean.
        assert!(one.deviation > 0.02 && one.deviation < 0.025, "{one:?}");
        // Ten that correlate are worth fewer than five.
        assert!(one.degrees > 4.0 * 4.7 && one.degrees < 4.0 * 4.8, "{one:?}");
        assert_eq!(alike[10], None);
        let mut apart: Vec<_> = (0..10).map(|n| of(0.01 * 3_f64.powi(n % 5))).collect();
        moderate(&mut apart);
        let [low, high] = [apart[0], apart[4]].map(Option::unwrap);
        assert!(low.degrees < 6.0 && low.deviation > 0.01 && high.deviation < 0.81, "{apart:?}");
        assert!(high.deviation > 20.0 * low.deviation, "{apart:?}");
    }

    #[test]
    fn what_is_known_with_too_few_degrees_is_nothing_unless_others_help() {
        let three = Some(learned(&[0.0, 0.02, 0.0]));
        let four = Some(learned(&[0.0, 0.02, 0.0, 0.02]));
        let mut alone = [three];
        moderate(&mut alone);
        assert_eq!(alone, [None]);
        let mut one = [four, None];
        moderate(&mut one);
        assert_eq!(one, [four, None]);
        let mut two = [three, three];
        moderate(&mut two);
        assert!(two[0].is_some_and(|of| of.degrees > DEGREES_MIN), "{two:?}");
    }
}
