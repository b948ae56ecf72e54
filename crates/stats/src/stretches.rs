//! One comparison, decided from ten short runs.
//!
//! A run is cut into stretches, each a short run with files and folders of its own. A stretch
//! gives one number: the trimmed mean of its rounds' log ratios. How much these numbers
//! scatter shows what rounds within a stretch do not: states that last for seconds, and what
//! differs each time files are created. A Student's t interval of their mean allows for both,
//! without any model of either (batch means: Alexopoulos and Seila, "Output data analysis",
//! 1998).
//!
//! The numbers are looked at three times at most: after 5, 7 and 10 stretches. Each look
//! may miss the truth by chance, and all of them together in no more than the error rate. The
//! first looks get little of it, so that the last is nearly as narrow as if it were the only
//! one (O'Brien and Fleming, "A multiple testing procedure for clinical trials", 1979).
//!
//! Another run differs by more than stretches of this one do. Where saved runs showed how
//! much, the interval holds what another run would find, and that interval decides.

use crate::student::two_sided;
use crate::variation::{Scatter, Variation};

/// A run is cut into so many stretches.
pub const STRETCHES: usize = 10;
/// Nothing is decided from fewer.
pub const STRETCHES_MIN: usize = LOOKS[0].stretches;

/// The times at which a comparison is looked at.
const LOOKS: [Look; 3] = [
    Look { stretches: 5, share: 0.06 },
    Look { stretches: 7, share: 0.26 },
    Look { stretches: STRETCHES, share: 0.8 },
];
/// So much of a stretch's rounds is left out at either end: the lowest and the highest.
const TRIMMED: f64 = 0.2;
/// With fewer rounds than this none is left out.
const TRIMMED_FROM: usize = 4;

/// A time at which a comparison is looked at.
struct Look {
    /// After so many stretches.
    stretches: usize,
    /// The part of the error rate at which its interval may miss the truth. The parts sum to
    /// a little more than 1, because an interval that misses at one look often misses at the
    /// next as well.
    share: f64,
}

/// Whether comparisons are looked at after so many stretches.
pub fn is_look(stretches: usize) -> bool {
    LOOKS.iter().any(|look| look.stretches == stretches)
}

/// What one comparison asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The smallest relative difference that matters: 0.05 is 5%. It is taken
    /// as ± ln(1 + threshold) of the log ratio, so that swapping the two arms
    /// swaps the decision exactly: 5% slower is a ratio of 1.05, and 5% faster
    /// one of 1/1.05.
    pub threshold: f64,
    /// The probability, over all looks together, with which the interval may
    /// miss the truth.
    pub error_rate: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { threshold: 0.05, error_rate: 0.05 }
    }
}

/// Where the true log ratio lies. Its exponential is a ratio of times per operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean of the stretches, in the middle of the bounds.
    pub estimate: f64,
    /// Lower bound; -∞ as long as nothing is known of it.
    pub low: f64,
    /// Upper bound; +∞ as long as nothing is known of it.
    pub high: f64,
}

impl Interval {
    /// What is sure of a truth that lies in it.
    pub fn decision(&self, threshold: f64) -> Decision {
        let edge = threshold.ln_1p();
        match *self {
            Self { low, .. } if low > edge => Decision::Greater,
            Self { high, .. } if high < -edge => Decision::Less,
            Self { low, high, .. } if low > -edge && high < edge => Decision::Within,
            Self { .. } => Decision::Open,
        }
    }
}

/// What is sure about the true log ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Open,
    /// Greater than ln(1 + threshold): the other arm is slower.
    Greater,
    /// Less than -ln(1 + threshold): the other arm is faster.
    Less,
    /// Between the two: no difference that matters.
    Within,
}

/// The stretches of one comparison so far.
#[derive(Clone, Debug)]
pub struct Stretches {
    settings: Settings,
    variation: Option<Variation>,
    unlike: Option<f64>,
    doubt: f64,
    means: Vec<f64>,
}

impl Stretches {
    /// None so far.
    ///
    /// # Panics
    /// When `threshold` is negative or not finite, or `error_rate` not between 0
    /// and 1.
    pub fn new(settings: Settings) -> Self {
        let Settings { threshold, error_rate } = settings;
        assert!(threshold >= 0.0 && threshold.is_finite(), "the threshold is {threshold}");
        assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
        Self { settings, variation: None, unlike: None, doubt: 0.0, means: Vec::new() }
    }

    /// The same where saved runs showed how much they vary.
    #[must_use]
    pub fn among_runs(self, variation: Option<Variation>) -> Self {
        Self { variation, ..self }
    }

    /// How much saved runs vary, where they showed it.
    pub fn variation(&self) -> Option<Variation> {
        self.variation
    }

    /// What the estimate differs by from a level of saved runs, and the variance that it has as far
    /// as they and the stretches show it; nothing before the first look.
    pub fn off_level(&self, level: f64) -> Option<(f64, f64)> {
        let this = self.this_run(self.look()?, self.settings.error_rate);
        Some((this.estimate - level, self.variation?.variance().max(this.variance)))
    }

    /// Sets the factor by which this run's variance differs from that of saved ones, if it is known.
    pub fn set_unlike(&mut self, factor: Option<f64>) {
        self.unlike = factor;
    }

    /// The factor, if it is known.
    pub fn unlike(&self) -> Option<f64> {
        self.unlike
    }

    /// Has the interval reach so much farther either way: what the numbers rest on is known no better,
    /// however many there are.
    pub fn doubt(&mut self, doubt: f64) {
        self.doubt = doubt;
    }

    /// Whether this doubt alone keeps it open, so that no further stretches would decide it.
    pub fn is_open_for_doubt(&self) -> bool {
        let Interval { estimate, .. } = self.interval();
        (estimate.abs() - self.settings.threshold.ln_1p()).abs() < self.doubt
    }

    /// Takes in the number that a stretch gives. One that is not finite says nothing and is
    /// left out, as are those after the last look.
    pub fn push(&mut self, mean: f64) {
        if mean.is_finite() && self.means.len() < STRETCHES {
            self.means.push(mean);
        }
    }

    /// Stretches taken in.
    pub fn count(&self) -> usize {
        self.means.len()
    }

    /// Stretches taken in by the latest look; 0 before the first.
    pub fn looked_at(&self) -> usize {
        self.look().map_or(0, |look| look.stretches)
    }

    /// What the latest look is sure of. A later one may take it back.
    pub fn decision(&self) -> Decision {
        self.look().map_or(Decision::Open, |look| self.decision_at(look))
    }

    /// After how many stretches the decision was first made that has stood since.
    pub fn decided_after(&self) -> Option<usize> {
        let decision = self.decision();
        let looks = LOOKS.iter().rev().skip_while(|look| look.stretches > self.count());
        let stood = looks.take_while(|look| self.decision_at(look) == decision).last()?;
        (decision != Decision::Open).then_some(stood.stretches)
    }

    /// Where another run's estimate lies, by the latest look, or the truth in this run where no
    /// saved runs tell of others, and what is doubtful; without bounds before the first look.
    pub fn interval(&self) -> Interval {
        self.interval_at(self.settings.error_rate)
    }

    /// The same at another error rate. For a selection among several comparisons.
    pub fn interval_at(&self, error_rate: f64) -> Interval {
        self.interval_of(self.look().unwrap_or(&LOOKS[0]), error_rate)
    }

    /// Where the truth lies in this run alone, by the latest look.
    pub fn interval_of_this_run(&self) -> Interval {
        self.this_run(self.look().unwrap_or(&LOOKS[0]), self.settings.error_rate).interval()
    }

    /// What the interval of this run alone would be sure of.
    pub fn decision_of_this_run(&self) -> Decision {
        self.interval_of_this_run().decision(self.settings.threshold)
    }

    fn look(&self) -> Option<&'static Look> {
        LOOKS.iter().rev().find(|look| look.stretches <= self.count())
    }

    fn decision_at(&self, look: &Look) -> Decision {
        self.interval_of(look, self.settings.error_rate).decision(self.settings.threshold)
    }

    /// It is never narrower than that of this run alone.
    fn interval_of(&self, look: &Look, error_rate: f64) -> Interval {
        let this = self.this_run(look, error_rate);
        let to_another = self.variation.filter(|_| this.reach.is_finite()).map(|variation| {
            // The other run is as those that were saved.
            let other = Scatter { variance: 0.0, degrees: f64::INFINITY, unlike: 1.0 };
            let (variance, degrees) =
                variation.of_runs([this.scatter(self.unlike.unwrap_or(1.0)), other]);
            two_sided(look.share * error_rate, degrees) * variance.sqrt()
        });
        let reach = to_another.unwrap_or(0.0).max(this.reach) + self.doubt;
        ThisRun { reach, ..this }.interval()
    }

    fn this_run(&self, look: &Look, error_rate: f64) -> ThisRun {
        let means = &self.means[..look.stretches.min(self.count())];
        let count = means.len() as f64;
        let degrees = count - 1.0;
        let estimate = means.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = means.iter().map(|mean| (mean - estimate).powi(2)).sum();
        let variance = squares / degrees / count;
        let reach = if means.len() < look.stretches {
            f64::INFINITY
        } else {
            two_sided(look.share * error_rate, degrees) * variance.sqrt()
        };
        ThisRun { estimate, variance, degrees, reach }
    }
}

/// What a run's stretches show.
struct ThisRun {
    estimate: f64,
    /// How well they show it: the variance of the estimate, with so many degrees of freedom.
    variance: f64,
    degrees: f64,
    /// By how much the truth may lie above or below.
    reach: f64,
}

impl ThisRun {
    fn interval(&self) -> Interval {
        let Self { estimate, reach, .. } = *self;
        Interval { estimate, low: estimate - reach, high: estimate + reach }
    }

    fn scatter(&self, unlike: f64) -> Scatter {
        Scatter { variance: self.variance, degrees: self.degrees, unlike }
    }
}

/// The mean of the values without the lowest fifth and the highest fifth, and without one of
/// each where there are at least four; `None` of no values.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let least = usize::from(sorted.len() >= TRIMMED_FROM);
    let trimmed = ((sorted.len() as f64 * TRIMMED) as usize).max(least);
    let kept = &sorted[trimmed..sorted.len() - trimmed];
    (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(threshold: f64, means: &[f64]) -> Stretches {
        let mut stretches = Stretches::new(Settings { threshold, error_rate: 0.05 });
        for mean in means {
            stretches.push(*mean);
        }
        stretches
    }

    #[test]
    fn the_interval_is_students_at_each_look() {
        let means = [0.1, 0.2, 0.3, 0.4, 0.5, 9.0, 9.0];
        // Standard deviation 0.1581, t with 4 degrees of freedom at 0.3% is 6.4356.
        let half = 6.435_6 * 0.158_114 / 5_f64.sqrt();
        for count in [5, 6] {
            let Interval { estimate, low, high } = of(0.0, &means[..count]).interval();
            assert!((estimate - 0.3).abs() < 1e-12, "{estimate}");
            assert!((estimate - low - half).abs() < 1e-4, "{low}, half {half}");
            assert!((high - estimate - half).abs() < 1e-4, "{high}");
        }
        assert!(of(0.0, &means).interval().estimate > 2.0, "the second look sees the last two");
    }

    #[test]
    fn nothing_is_decided_before_the_first_look_however_clear() {
        let four = of(0.05, &[0.7, 0.7001, 0.7, 0.7001]);
        assert_eq!((four.decision(), four.looked_at()), (Decision::Open, 0));
        let Interval { estimate, low, high } = four.interval();
        assert!(low == f64::NEG_INFINITY && high == f64::INFINITY && estimate > 0.69);
        assert_eq!(of(0.05, &[0.7; 5]).decision(), Decision::Greater);
    }

    #[test]
    fn a_decision_that_later_stretches_do_not_bear_out_is_taken_back() {
        let mut stretches = of(0.05, &[0.2, 0.21, 0.2, 0.21, 0.2]);
        assert_eq!((stretches.decision(), stretches.decided_after()), (Decision::Greater, Some(5)));
        stretches.push(-0.3);
        stretches.push(-0.3);
        assert_eq!((stretches.decision(), stretches.decided_after()), (Decision::Open, None));
        for _ in 0..3 {
            stretches.push(0.2);
        }
        assert_eq!(stretches.decision(), Decision::Open);
        let late = of(0.05, &[0.1, 0.3, 0.1, 0.3, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2]);
        assert_eq!(late.decided_after(), Some(7), "{:?}", late.interval());
    }

    /// Fails where a doubt that more stretches would make up for is said to keep it open, or the reverse.
    #[test]
    fn a_doubt_that_reaches_a_threshold_keeps_it_open() {
        for (doubt, keeps) in [(0.0, false), (0.1, false), (0.2, true)] {
            let mut stretches = of(0.05, &[0.2; 5]);
            stretches.doubt(doubt);
            assert_eq!(stretches.is_open_for_doubt(), keeps, "{doubt}");
            assert_eq!(stretches.decision() == Decision::Open, keeps, "{doubt}");
        }
    }

    #[test]
    fn numbers_that_are_not_finite_and_an_eleventh_are_left_out() {
        let mut stretches = of(0.05, &[f64::NAN, f64::INFINITY, 0.1]);
        assert_eq!(stretches.count(), 1);
        (0..20).for_each(|_| stretches.push(0.1));
        assert_eq!(stretches.count(), STRETCHES);
    }

    #[test]
    fn a_fifth_of_the_rounds_is_left_out_at_either_end() {
        assert_eq!(trimmed_mean(&[]), None);
        assert_eq!(trimmed_mean(&[1.0, 2.0, 9.0]), Some(4.0));
        assert_eq!(trimmed_mean(&[9.0, 1.0, 2.0, -500.0]), Some(1.5));
        let ten: Vec<f64> = (0..10).map(|n| f64::from(n * n * n)).collect();
        assert_eq!(trimmed_mean(&ten), Some((8.0 + 27.0 + 64.0 + 125.0 + 216.0 + 343.0) / 6.0));
    }
}
