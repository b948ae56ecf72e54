//! How unlike the saved ones a run is.
//!
//! What disturbs a whole run, or changed since the last one, shows in most of its comparisons, and
//! the next run will hardly be like it. The mean square of what they differ by from where they lay,
//! in units of what that varies by, is then more than 1. It is the factor by which this run's variance
//! exceeds that of the saved ones. Birge had it of measurements that do not agree, "The calculation
//! of errors by the method of least squares" (1932). A run that lies where the saved ones do is off
//! by less.
//!
//! A change in one of many comparisons is no sign of it, however large: each counts for no more
//! than five standard deviations.

use crate::median::median;

/// The number of last saved runs that show where a comparison lies. After a lasting change, their
/// median follows once three of them are newer.
const LAST: usize = 5;
/// What one comparison counts for at the most.
const SQUARE_MAX: f64 = 25.0;
/// No run is believed to be off by less than this share of the variance of saved ones.
const UNLIKE_MIN: f64 = 0.5;

/// Where a series of runs in the order of time lies now: the median of the last five. `None` of no
/// runs.
pub fn level(series: &[f64]) -> Option<f64> {
    let mut last = series[series.len().saturating_sub(LAST)..].to_vec();
    (!last.is_empty()).then(|| median(&mut last))
}

/// By how much more a run varies than saved ones do, as a factor of the variance: from what each
/// comparison differs by from its [`level`], and the variance that it has by what is known of it.
/// `None` of no comparisons.
pub fn unlike(differences: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let square = |(difference, variance): (f64, f64)| {
        // The level is an estimate too: of five runs.
        let usual = variance * (1.0 + 1.0 / LAST as f64);
        (difference.powi(2) / usual).min(SQUARE_MAX)
    };
    let squares: Vec<f64> = differences.map(square).collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    (!squares.is_empty()).then(|| mean.max(UNLIKE_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_lies_where_most_of_its_last_runs_do() {
        assert_eq!(level(&[]), None);
        assert_eq!(level(&[1.0, 2.0]), Some(1.5));
        assert_eq!(level(&[0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0]), Some(0.0));
        assert_eq!(level(&[0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0]), Some(9.0));
    }

    #[test]
    fn a_run_of_which_most_comparisons_differ_is_unlike_and_one_of_many_is_not() {
        let of = |off: &[f64]| {
            unlike(off.iter().map(|off| (off * 0.02, 0.02_f64.powi(2)))).unwrap_or_default()
        };
        assert_eq!(unlike(std::iter::empty()), None);
        assert!((of(&[0.5, -0.5]) - UNLIKE_MIN).abs() < 1e-9);
        assert!((of(&[3.0, -3.0, 3.0, -3.0]) - 9.0 / 1.2).abs() < 1e-9);
        // However far off it is.
        let mut one = vec![0.9; 40];
        one[7] = 1e6;
        assert!(of(&one) < 1.4, "{}", of(&one));
    }
}
