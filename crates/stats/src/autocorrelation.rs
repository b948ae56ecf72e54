//! How strongly each block resembles the one before it.
//!
//! Blocks that resemble each other are fewer facts than they seem. For a
//! series in which each value keeps the share φ of the one before (AR(1)), the
//! mean of n values is as uncertain as that of n (1 - φ) / (1 + φ) independent
//! ones (Bayley and Hammersley 1946; the effective sample size).

/// Beyond this a series says next to nothing about its own mean.
const HIGHEST: f64 = 0.8;
/// Standard errors, of about 1/√n each, that are added to the estimate: too
/// high a guess costs blocks, too low a guess costs false verdicts.
const CAUTION: f64 = 1.1;
/// Values farther out than this many spreads count as this far, so that one
/// stall does not hide the resemblance of all others.
const CLIP: f64 = 2.0;

/// How many independent blocks each block of the series stands for, in (0, 1],
/// with φ guessed rather too high than too low.
pub(crate) fn effective_share(series: &[f64], center: f64, spread: f64) -> f64 {
    let standard_error = 1.0 / (series.len() as f64).sqrt();
    let phi = (lag_one(series, center, spread) + CAUTION * standard_error).clamp(0.0, HIGHEST);
    (1.0 - phi) / (1.0 + phi)
}

/// The lag-1 autocorrelation of the clipped series; 0 where nothing varies.
fn lag_one(series: &[f64], center: f64, spread: f64) -> f64 {
    let clipped = |value: f64| (value - center).clamp(-CLIP * spread, CLIP * spread);
    let squares: f64 = series.iter().map(|&x| clipped(x).powi(2)).sum();
    let products: f64 = series.windows(2).map(|pair| clipped(pair[0]) * clipped(pair[1])).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::median::center_and_spread;

    fn share(series: &[f64]) -> f64 {
        let (center, spread) = center_and_spread(series);
        effective_share(series, center, spread)
    }

    #[test]
    fn a_series_that_alternates_is_taken_at_its_full_worth() {
        let past = [1.0, -1.0].repeat(50);
        assert!((share(&past) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_series_that_lingers_counts_least() {
        let mut past = vec![1.0; 50];
        past.extend([-1.0; 50]);
        assert!((share(&past) - 1.0 / 9.0).abs() < 1e-12);
    }

    #[test]
    fn few_blocks_are_read_with_more_caution_than_many() {
        let pattern = [1.0, 1.0, -1.0, -1.0];
        let short = share(&pattern.repeat(3));
        let long = share(&pattern.repeat(100));
        assert!(short < long, "{short} {long}");
    }

    #[test]
    fn one_stall_does_not_hide_the_resemblance() {
        let mut past = [1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0].repeat(8);
        let calm = share(&past);
        past[20] = 1e6;
        let stalled = share(&past);
        assert!((stalled - calm).abs() < 0.1, "{calm} {stalled}");
    }

    #[test]
    fn a_series_without_variation_is_taken_cautiously() {
        let share = share(&[0.0; 9]);
        assert!(share > 0.0 && share < 1.0, "{share}");
    }
}
