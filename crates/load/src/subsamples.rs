//! The times of subsamples of one size, in memory that does not grow.
//!
//! Each is as large as the others and one comes after the other. Whenever there are too many,
//! neighbours are joined: there are between half of that and as many, whatever the length of
//! the step.

use model::load::{Sampled, Subsamples};
use model::slice::Latencies;
use stats::Histogram;

/// With so many subsamples neighbours are joined.
const SUBSAMPLES_MAX: usize = 64;

/// Subsamples while they are being counted.
pub(crate) struct SubsampleSeries {
    of: Sampled,
    whole: Vec<Latencies>,
    size: u64,
    /// What the next one has so far.
    next: Histogram,
    in_next: u64,
    count: u64,
}

impl SubsampleSeries {
    pub(crate) fn new(of: Sampled) -> Self {
        let whole = Vec::with_capacity(SUBSAMPLES_MAX);
        Self { of, whole, size: 1, next: Histogram::new(), in_next: 0, count: 0 }
    }

    /// Takes in a time of this kind; others are left out.
    #[inline]
    pub(crate) fn record(&mut self, of: Sampled, ns: u64) {
        if of != self.of {
            return;
        }
        self.next.record(ns);
        self.count += 1;
        self.in_next += 1;
        if self.in_next == self.size {
            self.end_subsample();
        }
    }

    fn end_subsample(&mut self) {
        self.whole.push(Latencies::from(&self.next));
        self.next.clear();
        self.in_next = 0;
        if self.whole.len() == SUBSAMPLES_MAX {
            self.whole = self.whole.chunks(2).map(Latencies::sum).collect();
            self.size *= 2;
        }
    }

    /// Times taken in.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The whole ones, as they are kept in a record.
    pub(crate) fn to_subsamples(&self) -> Subsamples {
        Subsamples { of: self.of, size: self.size, latencies: self.whole.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_one_size_and_are_in_order_however_many_times_there_are() {
        for count in [0_u64, 1, 63, 64, 65, 1000, 100_000] {
            let mut series = SubsampleSeries::new(Sampled::Connection);
            for ns in 1..=count {
                series.record(Sampled::Connection, ns);
                series.record(Sampled::Reply, 7);
            }
            let Subsamples { size, latencies, .. } = series.to_subsamples();
            assert!(latencies.iter().all(|part| part.count() == size), "{count}");
            assert!(latencies.is_sorted_by_key(|part| part.max));
            assert_eq!((latencies.len() as u64, series.count()), (count / size, count));
            assert!(latencies.len() < SUBSAMPLES_MAX, "{count}");
            assert!(count < 32 || latencies.len() >= SUBSAMPLES_MAX / 2, "{count}");
        }
    }
}
