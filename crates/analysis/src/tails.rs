//! The 99th percentiles of two arms, held against each other as samples of one size
//! show them.
//!
//! A slice may have sixteen operations, of which the 99th percentile is the slowest,
//! and the other arm's a hundred. Successive blocks' operations are gathered until each
//! arm has enough, and then the larger gathering is read as a sample of the smaller's
//! size would show it.

use model::slice::{Latencies, Slice};
use stats::{Sequence, Settings};

/// The quantile that is compared.
const QUANTILE: f64 = 0.99;
/// Operations of either arm that a 99th percentile rests on at the least: the third
/// slowest of them and those about it.
const OPERATIONS_MIN: u64 = 300;
/// The largest sample that is asked for. Beyond it the percentile is as good as known,
/// and the time to compute it grows with the sample.
const OPERATIONS_MAX: u64 = 10_000;

/// The comparison so far, with what is gathered for the next log ratio.
pub(crate) struct Tails {
    /// The log ratios of the gatherings.
    pub(crate) sequence: Sequence,
    base: Latencies,
    other: Latencies,
}

impl Tails {
    /// Nothing known yet.
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            sequence: Sequence::new(settings),
            base: Latencies::default(),
            other: Latencies::default(),
        }
    }

    /// Takes in one block's slices of the two arms.
    pub(crate) fn take(&mut self, base: &Slice, other: &Slice) {
        self.base = Latencies::sum([&self.base, &base.latencies]);
        self.other = Latencies::sum([&self.other, &other.latencies]);
        let fewer = self.base.count().min(self.other.count());
        if fewer < OPERATIONS_MIN {
            return;
        }
        let of = |latencies: Latencies| {
            stats::log_quantile_of_sample(&latencies.buckets, QUANTILE, fewer.min(OPERATIONS_MAX))
        };
        let base = of(std::mem::take(&mut self.base));
        let other = of(std::mem::take(&mut self.other));
        // What is without a finite ratio says nothing, and is left out.
        let _ = self.sequence.push(other - base);
    }
}

#[cfg(test)]
mod tests;
