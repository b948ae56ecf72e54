//! Whether a server's latencies stay at their level while it is measured.
//!
//! The level of a subsample is the mean logarithm of its percentiles from the median to the
//! 90th, so that rare stalls have no part in it. Two tests see two kinds of drift. A level
//! that rises or falls all the while is found by [`trend`]. One that shifts is found by the
//! largest difference between the means before and after a split, divided by how much either
//! side varies within itself (X. Shao and X. Zhang, "Testing for change points in time
//! series", 2010). That takes no estimate of how values resemble their neighbours, which a
//! shift would spoil.

use crate::trend::{Trend, trend};

/// Percentiles whose logarithms make a level.
const LEVEL_OF: [f64; 5] = [0.5, 0.6, 0.7, 0.8, 0.9];
/// Fewer subsamples cannot tell a shift from a resemblance.
const SUBSAMPLES_MIN: usize = 16;
/// A shift is looked for between this part of the subsamples and as many before the end.
const EDGE: usize = 8;
/// The statistic of a shift is larger in 1% of series of independent values, and in up to
/// 3% where each keeps half of the one before.
const SHIFT_CRITICAL: f64 = 70.0;
/// The error rate of a trend. With that of a shift it makes less than 5%.
const TREND_ERROR_RATE: f64 = 0.03;
/// A smaller relative change is none that matters.
const CHANGE_MIN: f64 = 0.05;

/// A drift that is surely there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// How many times as long the same requests took at the end as at the start.
    pub factor: f64,
    /// How much of the step had passed when the level shifted, from 0 to 1; `None` where it
    /// rose or fell all the while.
    pub shifted_at: Option<f64>,
}

/// How latencies drift over subsamples of equal size, in the order in which they came: each a
/// value and how often it occurs, smallest first. `None` where they are steady, as far as can
/// be told: a steady server is said to drift in less than 5%.
pub fn drift(subsamples: &[&[(u64, u64)]]) -> Option<Drift> {
    let levels: Vec<f64> = subsamples.iter().filter_map(|part| level(part)).collect();
    if levels.len() < SUBSAMPLES_MIN {
        return None;
    }
    let matters = |drift: &Drift| drift.factor.ln().abs() >= CHANGE_MIN.ln_1p();
    shift(&levels).filter(matters).or_else(|| ramp(&levels).filter(matters))
}

/// The level of a subsample, as a logarithm.
fn level(part: &[(u64, u64)]) -> Option<f64> {
    let count: u64 = part.iter().map(|(_, times)| times).sum();
    let at = |q: f64| {
        let rank = (q * count as f64).ceil() as u64;
        let mut seen = 0;
        let found = part.iter().find(|(_, times)| {
            seen += times;
            seen >= rank
        });
        found.map(|(value, _)| ((*value).max(1) as f64).ln())
    };
    let logs: Option<Vec<f64>> = LEVEL_OF.into_iter().map(at).collect();
    Some(logs?.iter().sum::<f64>() / LEVEL_OF.len() as f64)
}

fn ramp(levels: &[f64]) -> Option<Drift> {
    let points: Vec<(f64, f64)> = (0..).map(f64::from).zip(levels.iter().copied()).collect();
    let Trend { start, end, .. } = trend(&points, TREND_ERROR_RATE)?;
    Some(Drift { factor: (end - start).exp(), shifted_at: None })
}

/// The split at which the level shifts most surely, where it does.
fn shift(levels: &[f64]) -> Option<Drift> {
    let edge = levels.len() / EDGE;
    let splits = (edge..=levels.len() - edge).map(|split| (split, statistic(levels, split)));
    let (split, found) = splits.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (before, after) = levels.split_at(split);
    (found > SHIFT_CRITICAL).then(|| Drift {
        factor: (mean(after) - mean(before)).exp(),
        shifted_at: Some(split as f64 / levels.len() as f64),
    })
}

/// The squared difference between both sides of a split, in units of how their own partial
/// sums vary.
fn statistic(levels: &[f64], split: usize) -> f64 {
    let count = levels.len() as f64;
    let (before, after) = levels.split_at(split);
    let mean = levels.iter().sum::<f64>() / count;
    let difference = before.iter().map(|level| level - mean).sum::<f64>();
    let within = wandering(before.iter()) + wandering(after.iter().rev());
    if within > 0.0 { difference.powi(2) * count / within } else { 0.0 }
}

/// The sum of the squares of a side's partial sums about its mean.
fn wandering<'a>(side: impl ExactSizeIterator<Item = &'a f64> + Clone) -> f64 {
    let mean = side.clone().sum::<f64>() / side.len() as f64;
    let partial = side.scan(0.0, |sum, level| {
        *sum += level - mean;
        Some(*sum)
    });
    partial.map(|sum| sum * sum).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subsamples of a value that scatters by 10%, at a level that depends on how much of the
    /// step has passed.
    fn subsamples(count: usize, level: impl Fn(f64) -> f64) -> Vec<Vec<(u64, u64)>> {
        let scatter = |index: usize| 0.95 + 0.1 * (index * 17 % 40) as f64 / 40.0;
        let value = |index| 1e6 * level(index as f64 / count as f64) * scatter(index);
        (0..count).map(|index| vec![(value(index) as u64, 100)]).collect()
    }

    fn found(subsamples: &[Vec<(u64, u64)>]) -> Option<Drift> {
        drift(&subsamples.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_shift_is_found_where_it_is_and_a_ramp_has_no_place() {
        let shift = found(&subsamples(40, |at| if at < 0.7 { 1.0 } else { 1.3 }));
        let shift = shift.unwrap_or_else(|| panic!("no shift"));
        assert!((shift.factor - 1.3).abs() < 0.05, "{shift:?}");
        assert!(shift.shifted_at.is_some_and(|at| (at - 0.7).abs() < 0.05), "{shift:?}");
        let ramp = found(&subsamples(40, |at| 1.0 + 0.5 * at));
        assert!(ramp.is_some_and(|ramp| (ramp.factor - 1.5).abs() < 0.15), "{ramp:?}");
        let falling = found(&subsamples(40, |at| 1.0 - 0.3 * at));
        assert!(falling.is_some_and(|ramp| ramp.factor < 0.8), "{falling:?}");
    }

    #[test]
    fn what_is_steady_or_changes_by_little_or_is_too_short_does_not_drift() {
        assert_eq!(found(&subsamples(40, |_| 1.0)), None);
        assert_eq!(found(&vec![vec![(1000, 5)]; 40]), None);
        assert_eq!(found(&vec![Vec::new(); 40]), None);
        let slightly: Vec<_> = (0..40).map(|i| vec![(100_000 + i * 60, 5)]).collect();
        assert_eq!(found(&slightly), None);
        assert_eq!(found(&subsamples(15, |at| 1.0 + at)), None);
    }
}
