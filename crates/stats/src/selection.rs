//! The error rate of comparisons that are reported because of what they showed.
//!
//! Of many comparisons, those with a verdict are the ones that chance may have favoured.
//! Benjamini and Yekutieli, "False discovery rate-adjusted multiple confidence intervals for
//! selected parameters" (2005), show that reporting each of S selected out of K at the error
//! rate α·S/K keeps the share of intervals that miss, among those reported, at α or less
//! on average.

/// The error rate at which each of `selected` comparisons out of `all` is to be reported,
/// so that on average at most the share `error_rate` of those reported miss.
///
/// # Panics
/// When more are selected than there are.
pub fn selected_error_rate(selected: usize, all: usize, error_rate: f64) -> f64 {
    assert!(selected <= all, "{selected} of {all}");
    error_rate * selected as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::{Decision, STRETCHES, Settings, Stretches};

    #[test]
    fn all_selected_is_no_selection() {
        assert!((selected_error_rate(8, 8, 0.05) - 0.05).abs() < 1e-15);
        assert!((selected_error_rate(2, 8, 0.05) - 0.0125).abs() < 1e-15);
        assert!(selected_error_rate(0, 0, 0.05).abs() < 1e-15);
    }

    /// The mean share of intervals that miss among those reported, where only comparisons
    /// that seem to differ are, of forty that do not.
    fn missed(reported_at: impl Fn(usize) -> f64) -> f64 {
        let runs = 200;
        let shares = (0..runs).map(|seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut drawn = || {
                let mut stretches = Stretches::new(Settings { threshold: 0.0, error_rate: 0.2 });
                (0..STRETCHES).for_each(|_| stretches.push(StandardNormal.sample(&mut random)));
                stretches
            };
            let series: Vec<Stretches> = (0..40).map(|_| drawn()).collect();
            let decided = |stretches: &&Stretches| stretches.decision() != Decision::Open;
            let selected: Vec<&Stretches> = series.iter().filter(decided).collect();
            let rate = reported_at(selected.len());
            let misses = selected.iter().filter(|stretches| {
                let interval = stretches.interval_at(rate);
                interval.low > 0.0 || interval.high < 0.0
            });
            misses.count() as f64 / selected.len().max(1) as f64
        });
        shares.sum::<f64>() / runs as f64
    }

    #[test]
    fn of_the_selected_no_more_miss_than_promised() {
        let with = missed(|selected| selected_error_rate(selected.max(1), 40, 0.2));
        let without = missed(|_| 0.2);
        assert!(with <= 0.2 && without > 0.9, "{with} {without}");
    }
}
