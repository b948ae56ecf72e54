//! When the level of a series changed.
//!
//! E-divisive: a segment is divided where the values on both sides differ most by their energy
//! distance, and a permutation test says whether values in any order differ as much. The two
//! parts are divided in turn. No distribution is assumed, but that values within a level do
//! not depend on each other (Matteson and James, "A nonparametric approach for multiple change
//! point analysis of multivariate data", 2014). Hunter and Apache Otava find regressions in
//! benchmarks this way.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// A level has at least so many values.
pub const LEVEL_MIN: usize = 3;
/// A series has a change though its level stayed the same in this share of cases.
const ERROR_RATE: f64 = 0.01;
/// Orders of a segment that a division is compared with.
const PERMUTATIONS: usize = 999;
/// Where the random orders begin: the same series has the same changes.
const SEED: u64 = 0x0010_7011;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value of the new level.
    pub at: usize,
    /// The share of orders of the values in which some division differs as much.
    pub p: f64,
}

/// The changes in a series, in order.
pub fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    let mut found = Vec::new();
    let mut left = vec![(0, values.len())];
    while let Some((begin, end)) = left.pop() {
        let Some(change) = division(&values[begin..end]) else { continue };
        let at = begin + change.at;
        found.push(ChangePoint { at, ..change });
        left.extend([(begin, at), (at, end)]);
    }
    found.sort_unstable_by_key(|change| change.at);
    found
}

/// Where the values are divided best, if that is no chance.
fn division(values: &[f64]) -> Option<ChangePoint> {
    if values.len() < 2 * LEVEL_MIN {
        return None;
    }
    let (at, distance) = best(values);
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut order = values.to_vec();
    let most = (ERROR_RATE * (PERMUTATIONS + 1) as f64) as usize;
    let mut as_great = 1;
    for _ in 0..PERMUTATIONS {
        order.shuffle(&mut random);
        as_great += usize::from(best(&order).1 >= distance);
        if as_great > most {
            return None;
        }
    }
    Some(ChangePoint { at, p: as_great as f64 / (PERMUTATIONS + 1) as f64 })
}

/// The division with the greatest energy distance, and that distance.
fn best(values: &[f64]) -> (usize, f64) {
    let count = values.len();
    let apart = |one: f64, others: &[f64]| others.iter().map(|o| (one - o).abs()).sum::<f64>();
    let total: f64 = (0..count).map(|n| apart(values[n], &values[n + 1..])).sum();
    let (mut within_left, mut within_right) = (0.0, total);
    let mut best = (0, f64::NEG_INFINITY);
    for at in 1..=count - LEVEL_MIN {
        let (left, right) = values.split_at(at);
        let moved = values[at - 1];
        within_left += apart(moved, &left[..at - 1]);
        within_right -= apart(moved, right);
        if at < LEVEL_MIN {
            continue;
        }
        let (m, n) = (at as f64, right.len() as f64);
        let between = total - within_left - within_right;
        let energy = 2.0 * between / (m * n)
            - within_left / (m * (m - 1.0) / 2.0)
            - within_right / (n * (n - 1.0) / 2.0);
        let distance = energy * m * n / (m + n);
        if distance > best.1 {
            best = (at, distance);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that go up and down by this much about a level.
    fn level(level: f64, count: usize) -> impl Iterator<Item = f64> {
        (0..count).map(move |n| level + 0.01 * (((n * n * 7) % 11) as f64 / 5.0 - 1.0))
    }

    fn at(values: &[f64]) -> Vec<usize> {
        change_points(values).into_iter().map(|change| change.at).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let steps: Vec<f64> = level(1.0, 20).chain(level(1.1, 20)).chain(level(1.05, 20)).collect();
        assert_eq!(at(&steps), [20, 40]);
        assert!(change_points(&steps).iter().all(|change| change.p <= ERROR_RATE));
        assert_eq!(change_points(&steps), change_points(&steps));
    }

    #[test]
    fn a_level_that_stays_a_single_outlier_and_a_short_series_have_no_change() {
        let mut steady: Vec<f64> = level(1.0, 40).collect();
        assert_eq!(at(&steady), [0; 0]);
        steady[17] = 9.0;
        assert_eq!(at(&steady), [0; 0]);
        assert_eq!(at(&[1.0, 1.0, 1.0, 5.0, 5.0, 5.0]), [0; 0], "20 orders of six are too few");
        assert_eq!(at(&[]), [0; 0]);
        assert_eq!(at(&[3.0; 30]), [0; 0]);
    }
}
