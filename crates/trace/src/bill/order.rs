//! Calls in the order in which they began. A trace has them as they ended.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::range::RangeNs;

/// How many calls wait for one that began before them: with the one that comes, 10 MiB. Longer
/// ones come late, and widen what is said of parallel threads.
const WAITING_MAX: usize = (1 << 18) - 1;

/// When a call was under way, and what of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval<T> {
    pub(crate) began_ns: u64,
    pub(crate) took: RangeNs,
    /// Whether others that began after it came out before.
    pub(crate) is_late: bool,
    pub(crate) of: T,
}

impl<T> PartialEq for Interval<T> {
    fn eq(&self, other: &Self) -> bool {
        self.began_ns == other.began_ns
    }
}

impl<T> Eq for Interval<T> {}

impl<T> PartialOrd for Interval<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Interval<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.began_ns.cmp(&other.began_ns)
    }
}

/// Intervals that wait for those before them.
pub(crate) struct InOrder<T> {
    waiting: BinaryHeap<Reverse<Interval<T>>>,
    waiting_max: usize,
    /// When the last one that came out began.
    frontier_ns: u64,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self { waiting: BinaryHeap::new(), waiting_max: WAITING_MAX, frontier_ns: 0 }
    }
}

impl<T> InOrder<T> {
    /// Adds one; the earliest where too many wait.
    pub(crate) fn push(&mut self, interval: Interval<T>) -> Option<Interval<T>> {
        self.waiting.push(Reverse(interval));
        if self.waiting.len() > self.waiting_max { self.pop() } else { None }
    }

    /// The earliest of those that wait.
    pub(crate) fn pop(&mut self) -> Option<Interval<T>> {
        let Reverse(mut interval) = self.waiting.pop()?;
        interval.is_late = interval.began_ns < self.frontier_ns;
        self.frontier_ns = self.frontier_ns.max(interval.began_ns);
        Some(interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_out_as_they_began_and_one_that_is_too_late_says_so() {
        let mut order = InOrder { waiting_max: 2, ..InOrder::default() };
        let mut out = Vec::new();
        for began_ns in [50, 30, 70, 10, 90] {
            let took = RangeNs::default();
            out.extend(order.push(Interval { began_ns, took, is_late: false, of: () }));
        }
        out.extend(std::iter::from_fn(|| order.pop()));
        let out: Vec<_> = out.iter().map(|one| (one.began_ns, one.is_late)).collect();
        assert_eq!(out, [(30, false), (10, true), (50, false), (70, false), (90, false)]);
    }
}
