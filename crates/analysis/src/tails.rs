//! The 99th percentiles of two arms, compared as samples of one size show them.
//!
//! A stretch of one arm may have a tenth of the operations of the other's. The larger
//! one is read as a random sample of the smaller's size would be, so that both are alike
//! where their latencies are. Each stretch gives one ratio. Where it has too few operations,
//! those of the next are added to it.

use model::slice::{Latencies, Slice};
use stats::{Settings, Stretches, Variation};

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

/// The comparison so far, with what is gathered for the next ratio.
pub(crate) struct Tails {
    /// The stretches' log ratios.
    pub(crate) stretches: Stretches,
    base: Gathered,
    other: Gathered,
}

/// Latencies of several rounds.
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
    /// Nothing known yet but how much saved runs vary, if they told.
    pub(crate) fn new(settings: Settings, variation: Option<Variation>) -> Self {
        Self {
            stretches: Stretches::new(settings).among_runs(variation),
            base: Gathered::default(),
            other: Gathered::default(),
        }
    }

    /// Takes in one round's slices of the two arms.
    pub(crate) fn take(&mut self, base: &Slice, other: &Slice) {
        self.base.take(&base.latencies);
        self.other.take(&other.latencies);
    }

    /// Takes in what the stretch gives, once there is enough of it.
    pub(crate) fn end_stretch(&mut self) {
        let [of_base, of_other] = [self.base.operations, self.other.operations];
        let fewer = of_base.min(of_other);
        if fewer < OPERATIONS_MIN {
            return;
        }
        let (base, other) = (self.base.taken(), self.other.taken());
        let position = position(if of_base < of_other { &base } else { &other });
        let sample = fewer.min(OPERATIONS_MAX);
        let [base, other] = [base, other].map(|side| {
            stats::log_quantile_of_subsample(&side.buckets, QUANTILE, sample, position)
        });
        self.stretches.push(other - base);
    }
}

/// A number from 0 to 1 that is as good as random, and the same for the same record: a hash
/// (FNV-1a) of the latencies that no sample is drawn from.
fn position(latencies: &Latencies) -> f64 {
    let words = latencies.buckets.iter().flat_map(|(value, times)| [value, times]);
    let bytes = words.flat_map(|word| word.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // The upper bits, of which `f64` holds all.
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests;
