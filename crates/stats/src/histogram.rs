//! A log-linear histogram with bounded memory and a relative error under 1%.
//!
//! Values below 256 have a bucket each; above, every power of two is cut into
//! 128 equal buckets, so that a bucket is at most 1/128 of its value wide and
//! its midpoint at most 0.4% off. This is the layout of `HdrHistogram` with two
//! significant digits, with the size fixed when it is compiled, because
//! `record` runs once for every operation that is timed.

/// Buckets per power of two, as a power of two itself.
const SUB_BITS: u32 = 7;
const SUB: u64 = 1 << SUB_BITS;
/// Values of this many bits and more share the last bucket.
const VALUE_BITS: u32 = 44;
const BUCKETS: usize = ((VALUE_BITS - SUB_BITS) as usize + 1) << SUB_BITS;

/// Counts of values in a fixed 38 KiB, whatever their number.
///
/// The unit of the values is the caller's: clock ticks or nanoseconds.
#[derive(Clone)]
pub struct Histogram {
    buckets: Box<[u64; BUCKETS]>,
    sum: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        let buckets = vec![0_u64; BUCKETS].into_boxed_slice();
        let Ok(buckets) = buckets.try_into() else {
            unreachable!("the slice was made with this length")
        };
        Self { buckets, sum: 0, max: 0 }
    }

    /// Makes a histogram again of what it was saved as: values that lie in its
    /// buckets with their counts, the exact sum and the exact largest value.
    pub fn restore(buckets: impl IntoIterator<Item = (u64, u64)>, sum: u64, max: u64) -> Self {
        let mut restored = Self { sum, max, ..Self::new() };
        for (value, times) in buckets {
            restored.buckets[bucket_of(value)] += times;
        }
        restored
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.buckets[bucket_of(value)] += 1;
        self.sum += value;
        if value > self.max {
            self.max = value;
        }
    }

    /// Counts one value so many times.
    pub fn record_many(&mut self, value: u64, times: u64) {
        if times > 0 {
            self.buckets[bucket_of(value)] += times;
            self.sum += value * times;
            self.max = self.max.max(value);
        }
    }

    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *mine += theirs;
        }
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        self.sum = 0;
        self.max = 0;
    }

    /// How many values were counted: the sum over the buckets, which is cheaper
    /// to take now and then than to keep with every value.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The exact sum of the values.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The exact mean, 0 when nothing was counted.
    pub fn mean(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.sum as f64 / count as f64,
        }
    }

    /// The exact largest value, 0 when nothing was counted.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The value below or at which the fraction `q` (0 to 1) of the values
    /// lies, within 1%; 0 when nothing was counted.
    ///
    /// This is the nearest-rank quantile: the ⌈q·n⌉-th smallest value.
    pub fn quantile(&self, q: f64) -> f64 {
        let count = self.count();
        if count == 0 {
            return 0.0;
        }
        let rank = (q.clamp(0.0, 1.0) * count as f64).ceil().max(1.0) as u64;
        if rank >= count {
            return self.max as f64;
        }
        let mut seen = 0;
        for (index, &times) in self.buckets.iter().enumerate() {
            seen += times;
            if seen >= rank {
                return midpoint(index).min(self.max as f64);
            }
        }
        self.max as f64
    }

    /// The buckets that hold anything, as (midpoint rounded down, count), smallest first.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let counts = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        counts.map(|(index, &count)| (midpoint(index) as u64, count)).collect()
    }
}

#[inline]
fn bucket_of(value: u64) -> usize {
    // The or keeps small values in the linear part without a branch.
    let exponent = (value | SUB).ilog2();
    let shift = exponent - SUB_BITS;
    let index = u64::from(shift) * SUB + (value >> shift);
    (index as usize).min(BUCKETS - 1)
}

fn midpoint(index: usize) -> f64 {
    let index = index as u64;
    if index < 2 * SUB {
        return index as f64;
    }
    let shift = index / SUB - 1;
    let low = (index - shift * SUB) << shift;
    low as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_midpoint_lies_in_its_own_bucket_and_within_one_percent() {
        let mut value = 1_u64;
        while value < 1 << (VALUE_BITS - 1) {
            for v in [value, value + 1, value * 3 / 2] {
                let mid = midpoint(bucket_of(v));
                assert!((mid - v as f64).abs() <= v as f64 * 0.01, "{v} reads as {mid}");
            }
            value *= 2;
        }
    }

    #[test]
    fn quantiles_of_a_known_sequence() {
        let mut h = Histogram::new();
        (1..=1000).for_each(|v| h.record(v));
        assert_eq!(h.count(), 1000);
        assert!((h.mean() - 500.5).abs() < 1e-9);
        assert!((h.quantile(0.5) - 500.0).abs() <= 5.0);
        assert!((h.quantile(0.99) - 990.0).abs() <= 9.9);
        assert_eq!(h.max(), 1000);
        assert!((h.quantile(1.0) - 1000.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_value_beyond_the_range_is_kept_as_the_maximum() {
        let mut h = Histogram::new();
        h.record(u64::MAX / 4);
        assert_eq!(h.max(), u64::MAX / 4);
        assert_eq!(h.buckets().len(), 1);
    }

    #[test]
    fn what_is_saved_sparsely_is_the_same_again() {
        let mut all = Histogram::new();
        (0..5000_u64).for_each(|v| all.record(v * v * v));
        let again = Histogram::restore(all.buckets(), all.sum(), all.max());
        assert!(again.buckets() == all.buckets());
        assert_eq!((again.count(), again.sum(), again.max()), (5000, all.sum(), all.max()));
        assert!((again.quantile(0.99) - all.quantile(0.99)).abs() < f64::EPSILON);
    }

    #[test]
    fn merging_is_the_same_as_recording_all() {
        let (mut a, mut b, mut all) = (Histogram::new(), Histogram::new(), Histogram::new());
        for v in 0..5000_u64 {
            let v = v * v;
            if v % 3 == 0 {
                a.record(v);
            } else {
                b.record(v);
            }
            all.record(v);
        }
        a.merge(&b);
        assert_eq!(a.count(), all.count());
        assert_eq!(a.sum(), all.sum());
        assert_eq!(a.max(), all.max());
        assert!(a.buckets() == all.buckets());
        a.clear();
        assert_eq!(a.count() + a.max(), 0);
        assert_eq!(a.buckets().len(), 0);
    }
}
