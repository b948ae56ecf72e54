//! Where a percentile of a server's latencies lies.
//!
//! Requests of one server depend on each other: those that wait in one queue wait together, and
//! a stall hits a burst of them. An interval that takes each for independent is too narrow. So
//! a step is cut into subsamples of equal size, one after the other. For a percentile, each is
//! asked how many of its requests took longer. If requests were independent, these counts would
//! scatter as binomial ones do. The ratio of what they scatter to that is the *clustering*:
//! a step says as much as so many times fewer independent requests.
//!
//! With that many the bounds of Clopper and Pearson say which shares of all requests may take
//! longer than the percentile, and the values at these shares bound it (E. L. Korn and B. I.
//! Graubard, "Confidence intervals for proportions with small expected number of positive
//! counts estimated from survey data", 1998; R. S. Woodruff, "Confidence intervals for medians
//! and other position measures", 1952). Nothing is asked of the latencies' distribution: it may
//! have gaps, as rare stalls leave them.
//!
//! Clustering itself is known from few groups. So it is looked at from the median to beyond
//! the percentile, and the largest counts. Where groups resemble their neighbours, requests
//! depend on each other for longer than a group lasts, and it is raised by as much as the first
//! autocorrelation says.

use std::iter;

use crate::binomial::{rate_at_least, rate_at_most};
use crate::student::two_sided;

/// Subsamples are joined to this many at least, and to fewer than twice as many. Longer ones
/// depend less on their neighbours; fewer say less about how they scatter.
const GROUPS: usize = 16;
/// Clustering is looked at down to where this part of those beyond the percentile is left.
const FARTHEST: f64 = 0.2;
/// So many requests must be slower than a percentile for its interval: with fewer, a kind of
/// stall that is rare and comes in bursts has often not occurred at all.
const SLOWER_MIN: f64 = 80.0;
/// They must be worth so many independent ones.
const INDEPENDENT_MIN: f64 = 8.0;
/// Beyond this, how much groups resemble their neighbours says no more.
const RESEMBLANCE_MAX: f64 = 0.9;
/// A value stands for a bucket that reaches so far to either side of it.
const BUCKET_HALF: f64 = 1.0 / 256.0;

/// A load that ends by itself is looked at so often.
pub const LOOKS: u32 = 9;
/// At each look an interval may miss the truth with this part of the error rate. The parts sum
/// to more than 1, because an interval that misses at one look often misses at the next.
pub const LOOK_SHARE: f64 = 0.5;

/// After how many requests of `most` each look comes, counted from 0: the last after all, each
/// one before after a factor of √2 fewer. Looks that are fixed beforehand do not depend on what
/// they see.
pub fn look_after(most: u64, look: u32) -> u64 {
    let halvings = f64::from(LOOKS - 1 - look.min(LOOKS - 1)) / 2.0;
    (most as f64 / halvings.exp2()).ceil() as u64
}

/// A subsample: a value and how often it occurs, smallest first.
pub type Sparse<'a> = &'a [(u64, u64)];

/// Where a percentile lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileInterval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// The interval that misses the quantile `q` with a probability of `error_rate`. `None` where
/// there are too few values for either bound.
pub fn percentile_interval(
    subsamples: &[Sparse<'_>],
    q: f64,
    error_rate: f64,
) -> Option<PercentileInterval> {
    let joined = (subsamples.len() / GROUPS).max(1);
    let groups: Vec<Values> = subsamples.chunks_exact(joined).map(Values::of).collect();
    if groups.len() < GROUPS {
        return None;
    }
    let all = Values::of(subsamples);
    let shares = iter::successors(Some(0.5), |share| Some(0.5 * share));
    let clustering = shares
        .take_while(|share| *share > FARTHEST * (1.0 - q))
        .filter_map(|share| clustering(&groups, all.with_beyond(share * all.count as f64)?))
        .fold(1.0, f64::max);
    let degrees = (groups.len() - 1) as f64;
    let certain = two_sided(error_rate, f64::INFINITY) / two_sided(error_rate, degrees);
    let effective = (all.count as f64 / clustering * certain.powi(2)).floor();
    let slower = (1.0 - q) * effective;
    if slower < INDEPENDENT_MIN || (1.0 - q) * (all.count as f64) < SLOWER_MIN {
        return None;
    }
    let most = rate_at_most(slower.ceil() as u64, effective as u64, 0.5 * error_rate);
    let least = rate_at_least(slower.floor() as u64, effective as u64, 0.5 * error_rate);
    let low = all.with_beyond((most * all.count as f64).ceil())?;
    let high = all.with_beyond((least * all.count as f64).floor() - 1.0)?;
    Some(PercentileInterval {
        low: low as f64 * (1.0 - BUCKET_HALF),
        high: high as f64 * (1.0 + BUCKET_HALF),
    })
}

/// Values, and how many there are of each and all smaller ones.
pub(crate) struct Values {
    pub(crate) upto: Vec<(u64, u64)>,
    pub(crate) count: u64,
}

impl Values {
    /// Those of all subsamples together.
    pub(crate) fn of(subsamples: &[Sparse<'_>]) -> Self {
        let mut upto: Vec<(u64, u64)> = subsamples.concat();
        upto.sort_unstable_by_key(|(value, _)| *value);
        let mut count = 0;
        for (_, times) in &mut upto {
            count += *times;
            *times = count;
        }
        Self { upto, count }
    }

    /// How many are larger than `value`.
    pub(crate) fn larger(&self, value: u64) -> u64 {
        let after = self.upto.partition_point(|(at, _)| *at <= value);
        self.count - after.checked_sub(1).map_or(0, |last| self.upto[last].1)
    }

    /// The smallest value that at most `number` are larger than; `None` where `number` is
    /// less than 0, or there are no values.
    fn with_beyond(&self, number: f64) -> Option<u64> {
        let at_least = (number >= 0.0).then_some(self.count.saturating_sub(number as u64))?;
        let index = self.upto.partition_point(|(_, upto)| *upto < at_least);
        self.upto.get(index).map(|(value, _)| *value)
    }
}

/// How many times as much as of independent values the numbers of those larger than `value`
/// scatter among groups of one size; `None` where none is larger.
pub(crate) fn clustering(groups: &[Values], value: u64) -> Option<f64> {
    let larger: Vec<f64> = groups.iter().map(|group| group.larger(value) as f64).collect();
    let size = groups.iter().map(|group| group.count as f64).sum::<f64>() / groups.len() as f64;
    let mean = larger.iter().sum::<f64>() / larger.len() as f64;
    let squares: f64 = larger.iter().map(|number| (number - mean).powi(2)).sum();
    let independent = mean * (1.0 - mean / size);
    let products: f64 = larger.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let resemblance =
        if squares > 0.0 { (products / squares).clamp(0.0, RESEMBLANCE_MAX) } else { 0.0 };
    let lasting = (1.0 + resemblance) / (1.0 - resemblance);
    (independent > 0.0).then(|| lasting * squares / (larger.len() - 1) as f64 / independent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many subsamples of the values 1 to `size`.
    fn even(subsamples: usize, size: u64) -> Vec<Vec<(u64, u64)>> {
        vec![(1..=size).map(|value| (value, 1)).collect(); subsamples]
    }

    fn interval(subsamples: &[Vec<(u64, u64)>], q: f64) -> Option<PercentileInterval> {
        let subsamples: Vec<Sparse<'_>> = subsamples.iter().map(Vec::as_slice).collect();
        percentile_interval(&subsamples, q, 0.05)
    }

    #[test]
    fn an_interval_needs_enough_subsamples_and_enough_slower_requests() {
        assert_eq!(interval(&[], 0.5), None);
        assert_eq!(interval(&even(GROUPS - 1, 1000), 0.5), None);
        assert!(interval(&even(GROUPS, 1000), 0.5).is_some());
        assert_eq!(interval(&even(GROUPS, 400), 0.99), None, "64 are slower");
        assert!(interval(&even(GROUPS, 1000), 0.99).is_some());
        assert_eq!(interval(&vec![Vec::new(); 40], 0.5), None);
    }

    #[test]
    fn without_clustering_it_is_that_of_clopper_and_pearson_by_students_t() {
        let found = interval(&even(GROUPS, 1000), 0.9).unwrap_or_else(|| panic!("no interval"));
        // (1.959964 / 2.131450)^2 of 16,000 are 13,529, of which 10% are 9.4997% to 10.5177%.
        assert!((found.low - 894.8 * (1.0 - BUCKET_HALF)).abs() < 1.0, "{found:?}");
        assert!((found.high - 905.1 * (1.0 + BUCKET_HALF)).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn values_that_come_in_bursts_widen_it() {
        let mut bursts = even(32, 500);
        let narrow = interval(&bursts, 0.9).unwrap_or_else(|| panic!("no interval"));
        for part in bursts.iter_mut().step_by(4) {
            part.iter_mut().rev().take(100).for_each(|(value, _)| *value += 5000);
        }
        let wide = interval(&bursts, 0.9).unwrap_or_else(|| panic!("no interval"));
        assert!(wide.high - wide.low > 3.0 * (narrow.high - narrow.low), "{wide:?}, {narrow:?}");
    }
}
