//! The middle of a series, and its spread about the middle.
//!
//! Both ignore how far away the farthest values are, so that one stall does
//! not decide how carefully the next blocks are read.

use crate::binomial::rate_at_least;

/// Turns a median absolute deviation into the standard deviation of Gaussian
/// noise with the same deviation.
const GAUSSIAN: f64 = 1.4826;

/// The middle value, or the mean of the two middle ones. Reorders `values`.
///
/// # Panics
/// When `values` is empty.
pub fn median(values: &mut [f64]) -> f64 {
    assert!(!values.is_empty(), "an empty series has no median");
    let upper = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, &mut middle, _) = values.select_nth_unstable_by(upper, f64::total_cmp);
    if odd {
        return middle;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    0.5 * lower + 0.5 * middle
}

/// The median of `values`, and their spread about it in units of a Gaussian
/// standard deviation (scaled median absolute deviation, corrected for short
/// series, in which the middle sits too close to the values).
///
/// # Panics
/// When `values` is empty.
pub fn center_and_spread(values: &[f64]) -> (f64, f64) {
    let mut scratch = values.to_vec();
    let center = median(&mut scratch);
    for value in &mut scratch {
        *value = (*value - center).abs();
    }
    let count = values.len() as f64;
    (center, GAUSSIAN * median(&mut scratch) * count / (count - 0.8))
}

/// Between which two of the values the median of what they are drawn from lies, unless chance
/// did what it does at this rate; nothing where there are too few. Reorders `values`.
///
/// A value is above that median as often as below it, whatever the distribution, so that
/// how many may be on one side is binomial (the sign test; W. R. Thompson, "On confidence
/// ranges for the median and other expectation distributions", 1936).
pub fn median_interval(values: &mut [f64], error_rate: f64) -> Option<(f64, f64)> {
    let count = values.len();
    let too_many =
        |side: &usize| rate_at_least(*side as u64, count as u64, error_rate / 2.0) >= 0.5;
    let side = (count / 2 + 1..=count).find(too_many)?;
    values.sort_unstable_by(f64::total_cmp);
    Some((values[count - side], values[side - 1]))
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn an_interval_needs_six_values_and_misses_no_more_often_than_it_may() {
        assert_eq!(median_interval(&mut [1.0; 5], 0.05), None);
        let six = &mut [5.0, 1.0, 4.0, 2.0, 3.0, 6.0];
        assert_eq!(median_interval(six, 0.05), Some((1.0, 6.0)));
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for count in [9, 40] {
            let trials = 20_000;
            let mut missed = 0;
            for _ in 0..trials {
                // Far from even about its median, ln 2.
                let mut values: Vec<f64> =
                    (0..count).map(|_| -random.random::<f64>().ln()).collect();
                let (low, high) = median_interval(&mut values, 0.05).unwrap_or_default();
                missed += u64::from(!(low..=high).contains(&std::f64::consts::LN_2));
            }
            let share = missed as f64 / f64::from(trials);
            assert!(share < 0.055 && share > 0.0, "{share} with {count}");
        }
    }

    #[test]
    fn odd_and_even_series() {
        assert_eq!(median(&mut [3.0]).to_bits(), 3.0_f64.to_bits());
        assert_eq!(median(&mut [9.0, 1.0, 5.0]).to_bits(), 5.0_f64.to_bits());
        assert_eq!(median(&mut [9.0, 1.0, 5.0, 7.0]).to_bits(), 6.0_f64.to_bits());
        assert_eq!(median(&mut [-4.0, -4.0, 2.0, 2.0]).to_bits(), (-1.0_f64).to_bits());
    }

    #[test]
    fn an_outlier_moves_neither_center_nor_spread() {
        let calm = center_and_spread(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let stalled = center_and_spread(&[1.0, 2.0, 3.0, 4.0, 5e9]);
        assert_eq!(calm, stalled);
    }

    #[test]
    fn the_spread_of_a_gaussian_series_is_its_standard_deviation() {
        // Quartiles of the standard Gaussian are at ±0.6745.
        let (center, spread) = center_and_spread(&[-0.6745, 0.6745].repeat(500));
        assert!(center.abs() < 1e-12);
        assert!((spread - 1.0).abs() < 0.01, "{spread}");
    }
}
