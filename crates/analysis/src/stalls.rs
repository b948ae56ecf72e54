//! Where rare stalls make all the time that was spent tell another story than the
//! typical slice.

use std::collections::BTreeSet;

use model::analysis::{Comparison, Totals, Verdict};
use model::slice::Slice;
use units::counted;

use crate::indexed::Indexed;
use crate::pair_state::PairState;

/// A slice has stalled where it took more than so many times as long as the arm's typical one.
const STALLED: f64 = 1.5;

/// One arm's slices, block by block.
#[derive(Default)]
struct Sum {
    slices: u64,
    stalls: u64,
    elapsed_ns: u64,
    operations: u64,
}

impl Sum {
    fn time_per_op_ns(&self) -> f64 {
        self.elapsed_ns as f64 / self.operations.max(1) as f64
    }
}

/// All time spent in the blocks that a comparison rests on, where some slices stalled
/// and it differs from the ratio of the times by more than worth.
pub(crate) fn totals(
    run: &Indexed<'_>,
    state: &PairState,
    typical_times: [f64; 2],
    threshold: f64,
) -> Option<Totals> {
    let arms = [state.pair.base, state.pair.other];
    let mut sums = [Sum::default(), Sum::default()];
    let taken: BTreeSet<usize> = state.taken.iter().map(|taken| taken.block).collect();
    let is_taken = |slice: &&Slice| slice.block().is_some_and(|block| taken.contains(&block));
    for ((arm, typical_ns), sum) in arms.into_iter().zip(typical_times).zip(&mut sums) {
        for slice in run.slices_of(arm).filter(is_taken) {
            // What is judged by a score has no total.
            if slice.outcome.score_ns.is_some() {
                return None;
            }
            sum.slices += 1;
            sum.stalls += u64::from(slice.time_per_op_ns() > STALLED * typical_ns);
            sum.elapsed_ns += slice.spent.elapsed_ns;
            sum.operations += slice.operations;
        }
    }
    let [base, other] = sums;
    let ratio = other.time_per_op_ns() / base.time_per_op_ns();
    let apart = (ratio / (typical_times[1] / typical_times[0])).ln().abs();
    let is_telling = base.stalls + other.stalls > 0 && apart > threshold.ln_1p();
    is_telling.then_some(Totals {
        base_slices: base.slices,
        base_stalls: base.stalls,
        other_slices: other.slices,
        other_stalls: other.stalls,
        ratio,
    })
}

/// Tells totals only where they lie outside of the interval, and does not say `same` of
/// arms whose typical slices are alike and whose totals are not.
pub(crate) fn judge(mut comparison: Comparison) -> Comparison {
    let outside = |ratio: f64| {
        comparison.ratio_low.is_some_and(|low| ratio < low)
            || comparison.ratio_high.is_some_and(|high| ratio > high)
    };
    comparison.totals = comparison.totals.filter(|totals| outside(totals.ratio));
    let Some(totals) = comparison.totals else { return comparison };
    if comparison.verdict != Verdict::Same
        || comparison.verdict.is_true_of(totals.ratio, comparison.threshold)
    {
        return comparison;
    }
    let stalls = totals.base_stalls + totals.other_stalls;
    let why = format!(
        "typical slices take equally long, but with {} included, the totals differ",
        counted(stalls, "stall")
    );
    Comparison { verdict: Verdict::Unclear, why: Some(why), ..comparison }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair_state::PairStates;
    use crate::testing;

    /// Forty blocks of two alike arms, of which the first stalls so often, for so long.
    fn stalled(times: usize, factor: u64) -> Option<Totals> {
        let slices = (0..40).flat_map(|block| {
            let mut base = testing::slice(0, block);
            base.spent.elapsed_ns *= if block < times { factor } else { 1 };
            [base, testing::slice(1, block)]
        });
        let run = testing::run(2, slices.collect());
        totals(&Indexed::of(&run), &PairStates::of(&run).0[0], [10.0, 10.0], 0.05)
    }

    #[test]
    fn stalls_that_matter_are_counted_and_others_are_not_told() {
        let found = stalled(3, 8);
        let found = found.unwrap_or_else(|| panic!("three stalls of 40 are not told"));
        assert_eq!((found.base_stalls, found.base_slices, found.other_stalls), (3, 40, 0));
        // (37 + 3·8) / 40 = 1.525.
        assert!((found.ratio - 1.0 / 1.525).abs() < 1e-9, "{}", found.ratio);
        assert_eq!(stalled(0, 8), None);
        assert_eq!(stalled(1, 2), None);
    }

    #[test]
    fn same_is_not_said_where_the_totals_differ() {
        let within = |verdict, low, high| Comparison {
            ratio_low: Some(low),
            ratio_high: Some(high),
            totals: stalled(3, 8),
            ..testing::comparison(verdict)
        };
        let judged = judge(within(Verdict::Same, 0.97, 1.03));
        assert_eq!(judged.verdict, Verdict::Unclear);
        assert!(judged.why.is_some_and(|why| why.contains("3 stalls")));
        assert_eq!(judge(testing::comparison(Verdict::Same)).verdict, Verdict::Same);
        let faster = judge(within(Verdict::Faster, 0.8, 0.9));
        assert!(faster.verdict == Verdict::Faster && faster.totals.is_some());
        assert_eq!(judge(within(Verdict::Faster, 0.5, 0.9)).totals, None, "within the interval");
    }
}
