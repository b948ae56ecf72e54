//! How long at least one of several calls was under way: the union of their intervals.

use super::range::RangeNs;

/// A union that is told of intervals in the order in which they begin, so that no more than its
/// end must be known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cover {
    low: Side,
    high: Side,
}

#[derive(Clone, Copy, Debug, Default)]
struct Side {
    total_ns: u64,
    until_ns: u64,
}

impl Cover {
    /// Adds an interval. One that is late began before others that were told already: how much
    /// of that time these cover is not known any more. Then the union is between the two, as if
    /// all or nothing.
    pub(crate) fn add(&mut self, began_ns: u64, took: RangeNs, is_late: bool) {
        self.low.add(began_ns, took.low);
        let before = self.high;
        self.high.add(began_ns, took.high);
        if is_late {
            let covered = self.high.until_ns.min(began_ns.saturating_add(took.high));
            let unknown = before.until_ns.min(covered).saturating_sub(began_ns);
            // No more can be covered than has gone by.
            let most = self.high.total_ns.saturating_add(unknown);
            self.high.total_ns = most.min(self.high.until_ns);
        }
    }

    pub(crate) fn total(&self) -> RangeNs {
        RangeNs { low: self.low.total_ns, high: self.high.total_ns.max(self.low.total_ns) }
    }
}

impl Side {
    fn add(&mut self, began_ns: u64, took_ns: u64) {
        let ended_ns = began_ns.saturating_add(took_ns);
        let from_ns = began_ns.max(self.until_ns);
        if ended_ns > from_ns {
            self.total_ns += ended_ns - from_ns;
            self.until_ns = ended_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exactly(ns: u64) -> RangeNs {
        RangeNs { low: ns, high: ns }
    }

    fn union_by_hand(intervals: &[(u64, u64)]) -> u64 {
        let covered =
            |at: u64| intervals.iter().any(|(began, took)| (*began..began + took).contains(&at));
        (0..300).filter(|at| covered(*at)).count() as u64
    }

    proptest! {
        /// Fails where an interval within another is counted, or a gap is.
        #[test]
        fn in_order_it_is_the_union(mut intervals in prop::collection::vec((0_u64..200, 0_u64..80), 0..30)) {
            intervals.sort_unstable();
            let mut cover = Cover::default();
            for (began, took) in &intervals {
                cover.add(*began, exactly(*took), false);
            }
            prop_assert_eq!(cover.total(), exactly(union_by_hand(&intervals)));
        }

        /// Fails where a late interval makes the bound smaller than what can be saved.
        #[test]
        fn whatever_the_order_the_union_is_between_the_two(
            intervals in prop::collection::vec((0_u64..200, 0_u64..80), 0..30),
        ) {
            let (mut cover, mut frontier) = (Cover::default(), 0);
            for (began, took) in &intervals {
                cover.add(*began, exactly(*took), *began < frontier);
                frontier = frontier.max(*began);
            }
            let RangeNs { low, high } = cover.total();
            let union = union_by_hand(&intervals);
            prop_assert!(low <= union && union <= high, "{} <= {} <= {}", low, union, high);
        }
    }

    #[test]
    fn the_recorders_part_shortens_each() {
        let mut cover = Cover::default();
        for began in [0, 100, 200] {
            cover.add(began, RangeNs { low: 30, high: 50 }, false);
        }
        assert_eq!(cover.total(), RangeNs { low: 90, high: 150 });
    }
}
