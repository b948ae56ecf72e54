//! How often something really happens, from how often it was seen to.
//!
//! The exact bounds of Clopper and Pearson, "The use of confidence or fiducial
//! limits illustrated in the case of the binomial" (1934): quantiles of the
//! beta distribution. They hold however small the counts are.

use crate::beta;

/// The greatest rate at which seeing so few, `count` of `trials`, still has
/// the probability `error_rate`. 1 where nothing was tried.
///
/// # Panics
/// When `count` is more than `trials`, or `error_rate` not between 0 and 1.
pub fn rate_at_most(count: u64, trials: u64, error_rate: f64) -> f64 {
    check(count, trials, error_rate);
    if count == trials {
        return 1.0;
    }
    beta::upper_quantile(count as f64 + 1.0, (trials - count) as f64, error_rate)
}

/// The smallest rate at which seeing so many, `count` of `trials`, still has
/// the probability `error_rate`. 0 where nothing was tried.
///
/// # Panics
/// As [`rate_at_most`].
pub fn rate_at_least(count: u64, trials: u64, error_rate: f64) -> f64 {
    check(count, trials, error_rate);
    if count == 0 {
        return 0.0;
    }
    beta::quantile(count as f64, (trials - count) as f64 + 1.0, error_rate)
}

fn check(count: u64, trials: u64, error_rate: f64) {
    assert!(count <= trials, "{count} of {trials}");
    assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-6, "{found} instead of {expected}");
    }

    /// The same in ten digits, however small the number.
    fn equal(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-10 * expected, "{found} instead of {expected}");
    }

    #[test]
    fn nothing_seen_follows_the_closed_form() {
        for trials in [1, 10, 59, 100, 1000] {
            near(rate_at_most(0, trials, 0.05), 1.0 - 0.05_f64.powf(1.0 / trials as f64));
            near(rate_at_least(trials, trials, 0.05), 0.05_f64.powf(1.0 / trials as f64));
        }
    }

    #[test]
    fn the_bounds_are_those_of_r() {
        // The last example of `binom.test` in R's own manual, after Conover (1971), and
        // a fair coin: both sides at 97.5%, to the seven digits that R prints.
        for (count, trials, at_least, at_most) in
            [(682, 925, 0.707_668_3, 0.765_406_6), (10, 20, 0.271_957_8, 0.728_042_2)]
        {
            assert!((rate_at_least(count, trials, 0.025) - at_least).abs() < 5e-8);
            assert!((rate_at_most(count, trials, 0.025) - at_most).abs() < 5e-8);
        }
    }

    #[test]
    fn the_bounds_are_those_of_forty_digits() {
        // Binomial tails summed term by term with 40 digits or more (mpmath 1.3).
        for (count, trials, error_rate, at_least, at_most) in [
            (0, 1, 0.05, 0.0, 0.95),
            (1, 20, 0.05, 0.002_561_378_776_530_28, 0.216_106_164_206_847_35),
            (20, 20, 0.05, 0.860_891_659_331_734_8, 1.0),
            (0, 59, 0.05, 0.0, 0.049_507_609_888_226_95),
            (682, 925, 0.025, 0.707_668_264_079_039, 0.765_406_558_241_525_3),
            (5, 100, 1e-9, 0.000_424_200_790_025_961_06, 0.292_267_160_630_494_1),
            (95, 100, 1e-9, 0.707_732_839_369_505_8, 0.999_575_799_209_974_1),
            (300, 10_000, 0.05, 0.027_245_931_473_092_55, 0.032_959_435_898_078_05),
            (0, 10_000_000, 0.05, 0.0, 2.995_731_824_833_443e-7),
            (3, 10_000_000, 0.05, 8.176_914_955_021_386e-8, 7.753_654_685_021_902e-7),
            (5_000_000, 10_000_000, 0.05, 0.499_739_875_830_165_8, 0.500_260_124_169_834_2),
            (9_999_998, 10_000_000, 0.05, 0.999_999_370_420_773, 0.999_999_964_463_847_8),
        ] {
            equal(rate_at_least(count, trials, error_rate), at_least);
            equal(rate_at_most(count, trials, error_rate), at_most);
        }
        equal(rate_at_most(100_000, 10_000_000, 0.05), 0.010_051_909_014_411_874);
    }

    #[test]
    fn the_tail_at_the_bound_is_the_error_rate() {
        // Summed term by term, independently of the beta function.
        let tail = |count: u64, trials: u64, rate: f64| -> f64 {
            let mut term = (1.0 - rate).powi(trials as i32);
            (0..=count)
                .map(|k| {
                    let this = term;
                    term *= (trials - k) as f64 / (k + 1) as f64 * rate / (1.0 - rate);
                    this
                })
                .sum()
        };
        for (count, trials) in [(1, 20), (5, 100), (12, 100), (31, 400)] {
            near(tail(count, trials, rate_at_most(count, trials, 0.05)), 0.05);
            near(1.0 - tail(count - 1, trials, rate_at_least(count, trials, 0.05)), 0.05);
        }
    }

    #[test]
    fn with_no_trials_anything_is_possible() {
        near(rate_at_most(0, 0, 0.05), 1.0);
        near(rate_at_least(0, 0, 0.05), 0.0);
    }
}
