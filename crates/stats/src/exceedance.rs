//! Which share of values lies above a limit, and between which values a quantile lies, of a few
//! hundred values that come in short stretches of time.
//!
//! Both are one question. The 99th percentile is surely below a limit where the share of values
//! above the limit is surely below 1%. So the interval of a quantile is made of the limits for
//! which neither is sure, and never contradicts the answer for a limit.
//!
//! As for [`percentile_interval`](crate::percentile_interval), slow values come together, and
//! the counts of groups tell by how much; values say as much as so many times fewer
//! independent ones, of which the bounds of Clopper and Pearson are taken. That function asks
//! for many slow values, as a server's requests have them. This one asks for none: where no
//! value was above a limit, the number of values alone bounds the share.

use std::ops::Range;

use crate::binomial::{rate_at_least, rate_at_most};
use crate::percentile::{Sparse, Values, clustering};
use crate::student::two_sided;

/// Slices are joined to so many groups at least, and to fewer than twice as many.
const GROUPS: usize = 16;
/// With fewer, nothing is known of how much slow values come together.
const GROUPS_MIN: usize = 5;

/// Values in groups, by time.
pub struct Exceedances {
    groups: Vec<Values>,
    all: Values,
}

/// Between which values a quantile lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileBounds {
    /// It is not below this value.
    pub low: u64,
    /// It is not above this value; `None` where there are too few values to tell.
    pub high: Option<u64>,
}

impl Exceedances {
    /// Of subsamples of about one size, in the order in which they were taken: each has values
    /// and how often they occur, smallest first. `None` where there are fewer than five, or no
    /// values.
    pub fn of(subsamples: &[Sparse<'_>]) -> Option<Self> {
        let joined = (subsamples.len() / GROUPS).max(1);
        let groups: Vec<Values> = subsamples.chunks(joined).map(Values::of).collect();
        let all = Values::of(subsamples);
        (groups.len() >= GROUPS_MIN && all.count > 0).then_some(Self { groups, all })
    }

    /// The share of all values that lie above `value`, at the least and at the most: each bound
    /// is missed with half the probability of `error_rate`.
    pub fn share_above(&self, value: u64, error_rate: f64) -> (f64, f64) {
        let (count, larger) = (self.all.count as f64, self.all.larger(value) as f64);
        let clustering = clustering(&self.groups, value).unwrap_or(1.0).max(1.0);
        let degrees = (self.groups.len() - 1) as f64;
        // Clustering is known from few groups alone, where there is any.
        let certain = if clustering > 1.0 {
            two_sided(error_rate, f64::INFINITY) / two_sided(error_rate, degrees)
        } else {
            1.0
        };
        let effective = (count / clustering * certain.powi(2)).max(1.0);
        let of = effective * larger / count;
        let (trials, each) = (effective.floor() as u64, 0.5 * error_rate);
        let least = rate_at_least((of.floor() as u64).min(trials), trials, each);
        let most = rate_at_most((of.ceil() as u64).min(trials), trials, each);
        (least, most)
    }

    /// Whether the quantile `q` is surely below or at `value` (`Some(true)`), surely above it
    /// (`Some(false)`), or neither.
    pub fn is_at_most(&self, q: f64, value: u64, error_rate: f64) -> Option<bool> {
        let QuantileBounds { low, high } = self.bounds(q, error_rate);
        if high.is_some_and(|high| high <= value) {
            return Some(true);
        }
        (low > value).then_some(false)
    }

    /// The values between which the quantile `q` lies.
    ///
    /// Slow values may come together more than slower ones do, so that more is sure of a higher
    /// value than of a lower one. What is sure of any value counts: above a value, the quantile is
    /// above all lower ones, too.
    pub fn bounds(&self, q: f64, error_rate: f64) -> QuantileBounds {
        let values: Vec<u64> = self.all.upto.iter().map(|(value, _)| *value).collect();
        let is_above = |at: usize| self.share_above(values[at], error_rate).0 > 1.0 - q;
        let is_below = |at: usize| self.share_above(values[at], error_rate).1 < 1.0 - q;
        let looked_at = self.spread(&values);
        let above = looked_at.iter().rposition(|at| is_above(*at)).map(|found| {
            // Between this one and the next it is so up to one of them.
            let next = looked_at.get(found + 1).copied().unwrap_or(values.len());
            last_of(looked_at[found]..next, is_above)
        });
        let most = looked_at.iter().position(|at| is_below(*at)).map(|found| {
            let before = found.checked_sub(1).map_or(0, |before| looked_at[before] + 1);
            let not_yet = last_of(before..looked_at[found] + 1, |at| !is_below(at));
            if is_below(not_yet) { not_yet } else { not_yet + 1 }
        });
        let low = above.map_or(0, |above| (above + 1).min(values.len() - 1));
        match most {
            // Both are sure of some value: so nothing is.
            Some(most) if most < low => QuantileBounds { low: values[0], high: None },
            most => QuantileBounds { low: values[low], high: most.map(|most| values[most]) },
        }
    }

    /// Some of the values, by index: each with a fifth fewer above it, or more below it, than the
    /// one before.
    fn spread(&self, values: &[u64]) -> Vec<usize> {
        let (mut found, mut last) = (Vec::new(), f64::INFINITY);
        for (at, value) in values.iter().enumerate() {
            let above = self.all.larger(*value) as f64;
            let odds = (above + 0.1) / (self.all.count as f64 - above + 0.1);
            if odds <= 0.8 * last {
                found.push(at);
                last = odds;
            }
        }
        found
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.all.count
    }
}

/// The last of the range for which it holds, of which it holds for the first and then for no more
/// behind one that it does not hold for; the first where it holds for none.
fn last_of(range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn of(subsamples: &[Vec<u64>]) -> Exceedances {
        let sparse: Vec<Vec<(u64, u64)>> = subsamples
            .iter()
            .map(|values| {
                let mut values = values.clone();
                values.sort_unstable();
                values.into_iter().map(|value| (value, 1)).collect()
            })
            .collect();
        let sparse: Vec<Sparse<'_>> = sparse.iter().map(Vec::as_slice).collect();
        Exceedances::of(&sparse).unwrap_or_else(|| panic!("too few"))
    }

    #[test]
    fn without_a_value_above_the_limit_their_number_bounds_the_share() {
        // 3.689 of n: the upper bound of Clopper and Pearson for none of n, at 95%.
        for (each, expected) in [(20, Some(true)), (18, None)] {
            let found = of(&vec![vec![8; each]; 20]);
            let (least, most) = found.share_above(10, 0.05);
            assert!(least.abs() < 1e-12 && (most * found.count() as f64 - 3.67).abs() < 0.03);
            assert_eq!(found.is_at_most(0.99, 10, 0.05), expected, "{each}");
        }
        assert_eq!(of(&vec![vec![12; 5]; 20]).is_at_most(0.99, 10, 0.05), Some(false));
    }

    #[test]
    fn an_interval_never_contradicts_the_answer_for_a_limit() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20 {
            let slice = |_| (0..30).map(|_| 1 << random.random_range(0..12)).collect();
            let found = of(&(0..20).map(slice).collect::<Vec<_>>());
            let QuantileBounds { low, high } = found.bounds(0.9, 0.05);
            assert!(high.is_none_or(|high| low <= high));
            for limit in (0..13).step_by(2) {
                match found.is_at_most(0.9, 1 << limit, 0.05) {
                    Some(true) => assert!(high.is_some_and(|high| high <= 1 << limit)),
                    Some(false) => assert!(low > 1 << limit),
                    None => assert!(high.is_none_or(|high| high >= 1 << limit)),
                }
            }
        }
    }

    /// What a check promises: of places where 1% is slow, no more than one in twenty is told
    /// good or bad. Where slow values come five at a time, half of these runs see two such bursts
    /// or fewer, and none of them what it missed.
    #[test]
    fn a_place_on_the_limit_is_seldom_judged() {
        for (bursts, most) in [(1, 12), (5, 20)] {
            let mut judged = 0;
            for seed in 0..200 {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let slices: Vec<Vec<u64>> = (0..20)
                    .map(|_| {
                        let slow = |random: &mut ChaCha8Rng| random.random_bool(0.01);
                        let runs = (0..60 / bursts).map(|_| if slow(&mut random) { 12 } else { 9 });
                        runs.flat_map(|value| vec![value; bursts]).collect()
                    })
                    .collect();
                judged += usize::from(of(&slices).is_at_most(0.99, 10, 0.05).is_some());
            }
            assert!(judged <= most, "{judged} of 200 in bursts of {bursts}");
        }
    }

    /// Half of the slices are slow from their first value to their last: of the fast limit next to
    /// nothing is sure, of the slow one all is.
    #[test]
    fn a_slow_limit_that_is_surely_missed_bounds_the_quantile_from_below() {
        let slices: Vec<Vec<u64>> = (0..8)
            .map(|slice| {
                let slow = if slice % 2 == 0 { 9 } else { 2 };
                (0..40).map(|at| if at % 3 == 0 { 40 } else { slow }).collect()
            })
            .collect();
        let found = of(&slices);
        assert_eq!(found.is_at_most(0.9, 20, 0.05), Some(false));
        assert!(found.bounds(0.9, 0.05).low > 20);
    }

    #[test]
    fn fewer_than_five_slices_say_nothing() {
        let slice: Sparse<'_> = &[(3, 7)];
        assert!(Exceedances::of(&[slice; 4]).is_none());
        assert!(Exceedances::of(&[&[][..]; 9]).is_none());
    }
}
