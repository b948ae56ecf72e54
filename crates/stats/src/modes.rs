//! Whether values lie about one middle or about two, far apart.
//!
//! The values are cut in two where the squares of what is left within the parts are least. They
//! have two modes where each part has a share of them, the parts' medians are far apart, as a
//! ratio and by the scatter within the parts, and next to nothing lies between. Medians and
//! absolute deviations decide, so that a few stalls are no mode.
//!
//! In the simulations of `tests/suite/modes.rs`, two modes are found in at least 90% of the series
//! and one is called two in at most 5%.

use crate::median;

/// The least share of the values that makes a mode.
const SHARE_MIN: f64 = 0.2;
/// Fewer values than this in a part say nothing of its scatter.
const PART_MIN: usize = 6;
/// The logarithm of how far the modes are apart at the least: a quarter more.
const APART_MIN: f64 = 0.223;
/// So many times their scatter they are apart.
const SCATTERS_MIN: f64 = 4.5;
/// What lies between: this middle part of the way from one median to the other.
const BETWEEN: [f64; 2] = [0.3, 0.7];
/// The largest share of the values that may lie there.
const BETWEEN_MAX: f64 = 0.05;
/// The scatter of Gaussian values over their median absolute deviation.
const DEVIATIONS: f64 = 1.4826;

/// Two modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// The median of the lower values.
    pub low: f64,
    /// The share of the values that are lower.
    pub low_share: f64,
    /// The median of the higher values.
    pub high: f64,
    /// Values above this are the higher ones.
    pub edge: f64,
}

/// The two modes of logarithms; nothing where they have one, or are too few to tell.
pub fn modes(logs: &[f64]) -> Option<Modes> {
    let mut sorted: Vec<f64> = logs.iter().copied().filter(|log| log.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let cut = best_cut(&sorted)?;
    let (lower, higher) = sorted.split_at(cut);
    let (low, low_spread) = center_and_deviation(lower);
    let (high, high_spread) = center_and_deviation(higher);
    let apart = high - low;
    let scatter = (lower.len() as f64 * low_spread + higher.len() as f64 * high_spread) / count;
    let [from, to] = BETWEEN.map(|share| low + share * apart);
    let between = sorted.iter().filter(|log| (from..to).contains(*log)).count() as f64;
    let are_two =
        apart >= APART_MIN && apart >= SCATTERS_MIN * scatter && between <= BETWEEN_MAX * count;
    are_two.then(|| Modes {
        low,
        low_share: lower.len() as f64 / count,
        high,
        edge: f64::midpoint(lower[cut - 1], higher[0]),
    })
}

/// How many of the sorted values are in the lower part where the squares within both parts are
/// least; nothing where the parts would be too small.
fn best_cut(sorted: &[f64]) -> Option<usize> {
    let count = sorted.len();
    let least = PART_MIN.max((SHARE_MIN * count as f64).ceil() as usize);
    let all: f64 = sorted.iter().sum();
    let mut below = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for (index, value) in sorted.iter().enumerate() {
        below += value;
        let cut = index + 1;
        if cut < least || cut + least > count {
            continue;
        }
        // The squares between the parts are most where those within are least.
        let (n, m) = (cut as f64, (count - cut) as f64);
        let between = n * m * (below / n - (all - below) / m).powi(2);
        if best.is_none_or(|(most, _)| between > most) {
            best = Some((between, cut));
        }
    }
    best.map(|(_, cut)| cut)
}

fn center_and_deviation(values: &[f64]) -> (f64, f64) {
    let center = median(&mut values.to_vec());
    let mut away: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    (center, DEVIATIONS * median(&mut away))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_times_are_found_with_their_shares_and_one_is_not_cut() {
        let two: Vec<f64> = (0..40)
            .map(|n| f64::from(if n % 5 < 3 { 35 } else { 150 }) * (1.0 + 0.01 * f64::from(n % 7)))
            .map(f64::ln)
            .collect();
        let found = modes(&two);
        let found = found.unwrap_or_else(|| panic!("not found"));
        assert!((found.low.exp() - 36.0).abs() < 1.5 && (found.high.exp() - 154.0).abs() < 5.0);
        assert!((found.low_share - 0.6).abs() < 1e-9);
        assert!((two[0]..two[4]).contains(&found.edge));
        let even: Vec<f64> = (0..40).map(|n| f64::from(n) * 0.1).collect();
        assert_eq!(modes(&even), None);
        assert_eq!(modes(&two[..6]), None);
        assert_eq!(modes(&[1.0; 50]), None);
    }
}
