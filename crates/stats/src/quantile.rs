//! A quantile of many values as a smaller sample of them shows it.
//!
//! The 99th percentile of sixteen values is their largest, and that of a hundred
//! the second largest: samples of different sizes show different quantiles of one
//! distribution, and one shows it more evenly than the other. Two of them are comparable at
//! one size: the larger is read as a random sample of it would be, drawn without
//! replacement. Then both are alike where the distributions are, whatever those are, rare
//! stalls included. A mean over all such samples has the same expectation, but lies between
//! two modes where a sample lies in either, and is told apart from one.

use std::f64::consts::TAU;

/// What is less likely than this is left out.
const NEGLIGIBLE: f64 = 1e-13;

/// The natural logarithm of the nearest-rank quantile `q` of a sample of `sample` of the
/// values. Of all such samples, the share `position` (0 to 1) has a lower quantile: a random
/// position draws a random sample. The values come as a value and how often it occurs,
/// smallest first; where there are `sample` of them it is the logarithm of their own
/// quantile. `sample` is from 1 to their number, `q` from 0 to 1.
///
/// Time grows with the number of values and of ranks beyond the quantile.
pub fn log_quantile_of_subsample(values: &[(u64, u64)], q: f64, sample: u64, position: f64) -> f64 {
    let count: u64 = values.iter().map(|(_, times)| times).sum();
    let rank = (q * sample as f64).ceil().clamp(1.0, sample as f64) as u64;
    let mut above = 0;
    for &(value, times) in values.iter().rev() {
        above += times;
        // The share of samples whose quantile is below this value.
        let below = at_most(sample - rank, above, sample, count);
        if position > below || below < NEGLIGIBLE {
            return (value as f64).ln();
        }
    }
    f64::NEG_INFINITY
}

/// The probability that a sample of `sample` of `count` has at most `most` of the
/// `marked` ones: hypergeometric probabilities, of which the largest is computed and the
/// others follow, each from its neighbour, as far as they count.
fn at_most(most: u64, marked: u64, sample: u64, count: u64) -> f64 {
    let (fewest, top) = (sample.saturating_sub(count - marked), most.min(marked));
    if top < fewest {
        return 0.0;
    }
    let mode = (sample + 1) as f64 * (marked + 1) as f64 / (count + 2) as f64;
    let mode = (mode as u64).clamp(fewest, top);
    let ways = ln_choose(marked, mode) + ln_choose(count - marked, sample - mode);
    let largest = (ways - ln_choose(count, sample)).exp();
    // From k to k + 1.
    let step = |k: u64| {
        let gained = (marked - k) as f64 * (sample - k) as f64;
        gained / ((k + 1) as f64 * (count + k + 1 - marked - sample) as f64)
    };
    let mut sum = largest;
    let mut add = |term: &mut f64, factor: f64| {
        *term *= factor;
        sum += *term;
        *term > NEGLIGIBLE * NEGLIGIBLE
    };
    let mut term = largest;
    let _ = (mode..top).all(|k| add(&mut term, step(k)));
    let mut term = largest;
    let _ = (fewest..mode).rev().all(|k| add(&mut term, 1.0 / step(k)));
    sum
}

/// The logarithm of the number of ways to choose `k` of `n`.
fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// The logarithm of a factorial, by Stirling's series from 16 on.
fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return (1..=n).map(|i| i as f64).product::<f64>().ln();
    }
    let n = n as f64;
    let correction = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * n * n)) / (n * n)) / n;
    0.5 * (TAU * n).ln() + n * (n.ln() - 1.0) + correction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quantiles of all samples, lowest first.
    fn of_all_samples(values: &[u64], q: f64, sample: usize) -> Vec<f64> {
        let rank = (q * sample as f64).ceil() as usize;
        let samples = (0..1_u32 << values.len()).filter(|set| set.count_ones() as usize == sample);
        let quantile = |set: u32| {
            let drawn = (0..values.len()).filter(|i| set >> i & 1 == 1);
            drawn.map(|i| values[i]).nth(rank - 1).map_or(f64::NAN, |value| (value as f64).ln())
        };
        let mut quantiles: Vec<f64> = samples.map(quantile).collect();
        quantiles.sort_by(f64::total_cmp);
        quantiles
    }

    #[test]
    fn each_position_is_the_quantile_of_one_of_all_samples() {
        let values = [2, 3, 3, 3, 7, 11, 13, 13, 200];
        let sparse = [(2, 1), (3, 3), (7, 1), (11, 1), (13, 2), (200, 1)];
        for sample in 1..=9 {
            for q in [0.01, 0.5, 0.9, 0.99] {
                let all = of_all_samples(&values, q, sample as usize);
                for (index, expected) in all.iter().enumerate() {
                    let position = (index as f64 + 0.5) / all.len() as f64;
                    let found = log_quantile_of_subsample(&sparse, q, sample, position);
                    let where_ = format!("{q} of {sample} at {position}");
                    assert!((found - expected).abs() < 1e-12, "{where_}: {found}, {expected}");
                }
            }
        }
    }

    #[test]
    fn of_as_many_as_there_are_it_is_their_quantile() {
        let values: Vec<(u64, u64)> = (1..=100_000).map(|value| (value, 1)).collect();
        for position in [0.01, 0.5, 0.99] {
            let found = log_quantile_of_subsample(&values[..1000], 0.99, 1000, position);
            assert!((found - 990.0_f64.ln()).abs() < 1e-9, "{found}");
        }
        let found = log_quantile_of_subsample(&values, 0.99, 1000, 0.5).exp();
        assert!((found / 98_950.0 - 1.0).abs() < 1e-3, "{found}");
    }

    #[test]
    fn factorials_meet_where_the_series_begins() {
        for n in [16, 17, 100] {
            let product: f64 = (1..=n).map(|i| (i as f64).ln()).sum();
            assert!((ln_factorial(n) - product).abs() < 1e-9, "{n}");
        }
    }
}
