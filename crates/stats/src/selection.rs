//! The error rate of comparisons that are reported because of what they showed.
//!
//! Of many comparisons, those with a verdict are the ones that chance may have favoured.
//! Z. Xu, R. Wang and A. Ramdas, "Post-selection inference for e-value based confidence
//! intervals" (2024, e-BY), show that reporting each of S selected out of K at the error
//! rate α·S/K keeps the share of intervals that miss, among those reported, at α or less
//! on average, however they were selected, and however the comparisons depend on each
//! other. It takes intervals made of bets, as ours are.

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
    use crate::{Decision, Sequence, Settings};

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
        let sequence = |series: &[f64], error_rate: f64| {
            let mut sequence = Sequence::new(Settings { threshold: 0.0, error_rate });
            for x in series {
                sequence.push(*x).unwrap();
            }
            sequence
        };
        let shares = (0..runs).map(|seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let series: Vec<Vec<f64>> = (0..40)
                .map(|_| (0..40).map(|_| StandardNormal.sample(&mut random)).collect())
                .collect();
            let decided = |series: &&Vec<f64>| sequence(series, 0.2).decision() != Decision::Open;
            let selected: Vec<&Vec<f64>> = series.iter().filter(decided).collect();
            let rate = reported_at(selected.len());
            let misses = selected.iter().filter(|series| {
                let interval = sequence(series, rate).interval();
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
        assert!(with <= 0.05 && without > 2.0 * with && without > 0.1, "{with} {without}");
    }
}
