//! Whether a series drifts.
//!
//! The test is that of H. B. Mann, "Nonparametric tests against trend" (1945),
//! and M. G. Kendall: of all pairs of points, how many more rise than fall. It
//! asks for no shape of the noise or of the trend. Points that resemble their
//! neighbours make it find trends where there are none. Its variance is therefore
//! raised by the ratio of their number to their effective number, as S. Yue and
//! C. Wang do, "The Mann-Kendall test modified by effective sample size to detect
//! trend in serially correlated hydrological series" (2004), with the
//! autocorrelation of the ranks, as K. H. Hamed and A. R. Rao do (1998). They take
//! a line out first, which leaves of a step what looks like a resemblance; here
//! the monotone curve nearest to the ranks is taken out, and what it takes of the
//! resemblance itself is given back.

use std::iter::repeat_n;

use crate::median::median;
use crate::normal;

/// Fewer points than these can hardly tell a trend from a resemblance.
const FEWEST: usize = 8;
/// A level at an end is read off a line through so many points at least.
const FEWEST_OF_LINE: usize = 5;
/// More points are joined to so many: each is held against each.
const POINTS_MAX: usize = 1000;
/// Of independent values a monotone curve has ln n + 0.58 levels on average (R. E.
/// Miles 1959), and each takes about this much of n times the autocorrelation.
const TAKEN_BY_LEVEL: f64 = 1.5;
/// Standard errors, of about 1/√n each, that are added to the autocorrelation: too
/// high a guess costs power, too low a guess finds trends that are none.
const CAUTION: f64 = 1.3;
/// Beyond this no series says anything about its trend.
const HIGHEST: f64 = 0.9;

/// A trend that is surely there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The level at the first point, in the unit of the values.
    pub start: f64,
    /// The level at the last point, in the unit of the values.
    pub end: f64,
    /// By how many standard deviations more pairs rise than fall; negative
    /// where more fall.
    pub z: f64,
}

/// The trend over points of a position and a value each, where one is
/// significant at the two-sided `level`. The positions may be unevenly spaced,
/// and no two the same.
///
/// The levels are read off robust lines through the first and the last half of
/// the points, so that what rises early and then stays is not taken for a ramp.
/// Time grows with the square of the number of points, some 50 µs at 40, up to a thousand:
/// of more, neighbours are joined first.
pub fn trend(points: &[(f64, f64)], level: f64) -> Option<Trend> {
    if points.len() < FEWEST {
        return None;
    }
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points = joined(points);
    let z = mann_kendall(&points);
    let half = points.len().div_ceil(2).max(FEWEST_OF_LINE);
    let start = Line::through(&points[..half]).at(points[0].0);
    let end = Line::through(&points[points.len() - half..]).at(points[points.len() - 1].0);
    (normal::beyond(z) <= level).then_some(Trend { start, end, z })
}

/// A thousand points at the most: neighbours become one, at their middle and with their median.
fn joined(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let of_one = points.len().div_ceil(POINTS_MAX);
    if of_one <= 1 {
        return points;
    }
    let join = |points: &[(f64, f64)]| {
        let (mut positions, mut values): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        (median(&mut positions), median(&mut values))
    };
    points.chunks(of_one).map(join).collect()
}

/// The standardised count of pairs that rise, less those that fall.
fn mann_kendall(points: &[(f64, f64)]) -> f64 {
    let values: Vec<f64> = points.iter().map(|p| p.1).collect();
    let count = values.len() as f64;
    let rising: f64 = pairs(&values).map(|(earlier, later)| sign(later - earlier)).sum();
    let of_all = count * (count - 1.0) * (2.0 * count + 5.0);
    let variance = (of_all - of_ties(&values)) / 18.0 * inflation(&values, sign(rising));
    if variance > 0.0 { (rising - sign(rising)) / variance.sqrt() } else { 0.0 }
}

/// What values that occur several times take from the variance.
fn of_ties(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let of_one = |tied: &[f64]| {
        let times = tied.len() as f64;
        times * (times - 1.0) * (2.0 * times + 5.0)
    };
    sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(of_one).sum()
}

/// How many points there are for each independent one: 1 + 2 Σ (1 - k/n) φᵏ, with
/// φ guessed rather too high than too low. `direction` is that of the trend.
fn inflation(values: &[f64], direction: f64) -> f64 {
    let count = values.len() as f64;
    let ranks: Vec<f64> = ranks(values).iter().map(|rank| direction * rank).collect();
    let seen = lag_one(&about_rising(&ranks));
    let lingering = seen.clamp(0.0, HIGHEST);
    // What lingers has as many levels as so many fewer independent values.
    let levels = (1.0 + lingering) / (1.0 - lingering) * (count.ln() + 0.58);
    let phi = seen + TAKEN_BY_LEVEL * levels / count + CAUTION / count.sqrt();
    let phi = phi.clamp(0.0, HIGHEST);
    let lags = (1..values.len()).map(|lag| (1.0 - lag as f64 / count) * phi.powi(lag as i32));
    1.0 + 2.0 * lags.sum::<f64>()
}

/// How many values are smaller than each, one that is equal counting half.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: f64| values.iter().map(|x| 0.5 * (1.0 + sign(value - x))).sum();
    values.iter().map(|&value| rank(value)).collect()
}

/// What is left of a series without the nearest curve that never falls, by pooling
/// neighbours that do (M. Ayer et al. 1955).
fn about_rising(series: &[f64]) -> Vec<f64> {
    let mut levels: Vec<(f64, usize)> = Vec::new();
    for &value in series {
        let (mut sum, mut times) = (value, 1);
        while let Some((before, of)) = levels.pop_if(|(mean, _)| *mean * times as f64 >= sum) {
            sum += before * of as f64;
            times += of;
        }
        levels.push((sum / times as f64, times));
    }
    let curve = levels.iter().flat_map(|&(level, times)| repeat_n(level, times));
    series.iter().zip(curve).map(|(value, level)| value - level).collect()
}

/// The lag-1 autocorrelation of a series about zero; 0 where nothing varies.
fn lag_one(series: &[f64]) -> f64 {
    let squares: f64 = series.iter().map(|x| x * x).sum();
    let products: f64 = series.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// A line through points, of which some may lie far off.
struct Line {
    slope: f64,
    at_zero: f64,
}

impl Line {
    /// The median of the slopes of all pairs, and that of what is left.
    fn through(points: &[(f64, f64)]) -> Self {
        let mut slopes: Vec<f64> = pairs(points)
            .filter(|(earlier, later)| later.0 > earlier.0)
            .map(|(earlier, later)| (later.1 - earlier.1) / (later.0 - earlier.0))
            .collect();
        let slope = if slopes.is_empty() { 0.0 } else { median(&mut slopes) };
        let mut left: Vec<f64> = points.iter().map(|p| p.1 - slope * p.0).collect();
        Self { slope, at_zero: median(&mut left) }
    }

    fn at(&self, position: f64) -> f64 {
        self.at_zero + self.slope * position
    }
}

fn pairs<T: Copy>(series: &[T]) -> impl Iterator<Item = (T, T)> {
    let later = |(index, &earlier)| series[index + 1..].iter().map(move |&later| (earlier, later));
    series.iter().enumerate().flat_map(later)
}

/// 1, -1, or 0 for none, which `signum` does not know.
fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What scatters by some 10%, evenly, without a trend of its own.
    fn scatter(index: usize) -> f64 {
        0.2 * ((index * 17 % 40) as f64 / 40.0 - 0.5)
    }

    fn over_forty(level: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..40).map(|n| (n as f64, level(n as f64 / 39.0) + scatter(n))).collect()
    }

    #[test]
    fn the_levels_are_those_at_both_ends() {
        let [before, after] = [198.0_f64.ln(), 1100.0_f64.ln()];
        let ramp = |share: f64| before + share * (after - before);
        let step = |share: f64| if share < 0.5 { before } else { after };
        for points in [over_forty(ramp), over_forty(step)] {
            let found = trend(&points, 0.01).unwrap();
            assert!((found.start - before).abs() < 0.1, "{found:?}");
            assert!((found.end - after).abs() < 0.1, "{found:?}");
            assert!(found.z > 3.0);
        }
    }

    #[test]
    fn falling_mirrors_rising_and_the_order_of_the_points_does_not_matter() {
        let mut points = over_forty(|share| share);
        let rising = trend(&points, 0.01).unwrap();
        points.reverse();
        assert_eq!(trend(&points, 0.01), Some(rising));
        let falling: Vec<_> = points.iter().map(|p| (p.0, -p.1)).collect();
        let falling = trend(&falling, 0.01).unwrap();
        assert_eq!((falling.start, falling.z), (-rising.start, -rising.z));
    }

    #[test]
    fn a_trend_over_many_points_is_found_in_a_thousand_of_them() {
        let points: Vec<(f64, f64)> =
            (0..50_000).map(|i| (i as f64, scatter(i) + i as f64 / 50_000.0)).collect();
        assert_eq!(joined(points.clone()).len(), POINTS_MAX);
        let found = trend(&points, 0.01).unwrap_or_else(|| panic!("no trend"));
        assert!((found.end - found.start - 1.0).abs() < 0.1, "{found:?}");
        assert_eq!(joined(points[..POINTS_MAX].to_vec()), points[..POINTS_MAX]);
    }

    #[test]
    fn what_does_not_vary_or_is_too_short_has_no_trend() {
        assert_eq!(trend(&[], 0.05), None);
        assert_eq!(trend(&over_forty(|share| 9.0 * share)[..FEWEST - 1], 0.05), None);
        let constant: Vec<_> = (0..40).map(|n| (f64::from(n), 3.0)).collect();
        assert_eq!(trend(&constant, 0.05), None);
        assert_eq!(trend(&over_forty(|_| 0.0), 0.05), None);
    }

    #[test]
    fn one_stall_at_the_end_is_no_trend_and_does_not_hide_one() {
        let mut flat = over_forty(|_| 0.0);
        flat[39].1 = 100.0;
        assert_eq!(trend(&flat, 0.05), None);
        let mut ramp = over_forty(|share| share);
        ramp[39].1 = -100.0;
        assert!(trend(&ramp, 0.01).is_some_and(|found| (found.end - 1.0).abs() < 0.1));
    }
}
