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
/// More than any histogram of a run has; what has more is made up, and is not gathered.
const BUCKETS_MAX: usize = 10_000;

/// The comparison so far, with what is gathered for the next log ratio.
pub(crate) struct Tails {
    /// The log ratios of the gatherings.
    pub(crate) sequence: Sequence,
    base: Gathered,
    other: Gathered,
}

/// Latencies of several blocks, put together once there are enough.
#[derive(Default)]
struct Gathered {
    all: Latencies,
    operations: u64,
}

impl Gathered {
    fn take(&mut self, latencies: &Latencies) {
        self.operations = self.operations.saturating_add(latencies.count());
        self.all.buckets.extend(&latencies.buckets);
        self.all.max = self.all.max.max(latencies.max);
        if self.all.buckets.len() > 2 * BUCKETS_MAX {
            self.all = Latencies::sum([&self.all]);
            if self.all.buckets.len() > BUCKETS_MAX {
                *self = Self::default();
            }
        }
    }

    /// All of them, and begins again.
    fn taken(&mut self) -> Latencies {
        Latencies::sum([&std::mem::take(self).all])
    }
}

impl Tails {
    /// Nothing known yet.
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            sequence: Sequence::new(settings),
            base: Gathered::default(),
            other: Gathered::default(),
        }
    }

    /// Takes in one block's slices of the two arms.
    pub(crate) fn take(&mut self, base: &Slice, other: &Slice) {
        self.base.take(&base.latencies);
        self.other.take(&other.latencies);
        let fewer = self.base.operations.min(self.other.operations);
        if fewer < OPERATIONS_MIN {
            return;
        }
        let of = |latencies: Latencies| {
            stats::log_quantile_of_sample(&latencies.buckets, QUANTILE, fewer.min(OPERATIONS_MAX))
        };
        let base = of(self.base.taken());
        let other = of(self.other.taken());
        // What is without a finite ratio says nothing, and is left out.
        let _ = self.sequence.push(other - base);
    }
}

#[cfg(test)]
mod tests;
