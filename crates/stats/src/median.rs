//! The middle of a series, and its spread about the middle.
//!
//! Both ignore how far away the farthest values are, so that one stall does
//! not decide how carefully the next blocks are read.

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

#[cfg(test)]
mod tests {
    use super::*;

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
