//! How often something really happens, from how often it was seen to.
//!
//! The exact bounds of Clopper and Pearson, "The use of confidence or fiducial
//! limits illustrated in the case of the binomial" (1934): quantiles of the
//! beta distribution. They hold however small the counts are.

use statrs::function::beta::beta_reg;

/// Halvings of the unit interval in which a bound is searched.
const HALVINGS: usize = 60;

/// The greatest rate at which seeing so few, `count` of `trials`, still has
/// the probability `error_rate`. 1 where nothing was tried.
///
/// # Panics
/// When `count` is more than `trials`, or `error_rate` not between 0 and 1.
pub fn rate_at_most(count: u64, trials: u64, error_rate: f64) -> f64 {
    assert!(count <= trials, "{count} of {trials}");
    assert!(error_rate > 0.0 && error_rate < 1.0, "error rate is {error_rate}");
    if count == trials {
        return 1.0;
    }
    let (a, b) = (count as f64 + 1.0, (trials - count) as f64);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if beta_reg(a, b, middle) < 1.0 - error_rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The smallest rate at which seeing so many, `count` of `trials`, still has
/// the probability `error_rate`. 0 where nothing was tried.
///
/// # Panics
/// As [`rate_at_most`].
pub fn rate_at_least(count: u64, trials: u64, error_rate: f64) -> f64 {
    assert!(count <= trials, "{count} of {trials}");
    1.0 - rate_at_most(trials - count, trials, error_rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-6, "{found} instead of {expected}");
    }

    #[test]
    fn nothing_seen_follows_the_closed_form() {
        for trials in [1, 10, 59, 100, 1000] {
            near(rate_at_most(0, trials, 0.05), 1.0 - 0.05_f64.powf(1.0 / trials as f64));
            near(rate_at_least(trials, trials, 0.05), 0.05_f64.powf(1.0 / trials as f64));
        }
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
