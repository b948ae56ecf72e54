//! The one figure that a report is about: each arm's time per operation in
//! a typical slice.
//!
//! Ratios, savings and rates all rest on it. The times of arms that are compared come from
//! what their stretches give, all at once ([`stats::levels`]), so that the ratio of two times
//! is the ratio that the stretches show, in every pair alike.
//! How high they lie together, which ratios do not tell, is where the arms' own slices
//! have their medians.

use stats::Difference;

use crate::blocks::{Block, log_typicals, log_typicals_of};
use crate::pair_state::{PairState, PairStates};

/// Each arm's time in nanoseconds, in the order of the plan; none where no slice tells.
pub(crate) fn of_arms(count: usize, blocks: &[Block<'_>], states: &PairStates) -> Vec<Option<f64>> {
    let compared: Vec<Difference> = states.0.iter().filter_map(difference).collect();
    let levels = stats::levels(count, &compared);
    let medians: Vec<Option<f64>> = (0..count).map(|arm| log_median(blocks, arm)).collect();
    let groups = groups(count, &compared);
    (0..count)
        .map(|arm| {
            let offsets: Vec<f64> = (0..count)
                .filter(|other| groups[*other] == groups[arm])
                .filter_map(|other| Some(medians[other]? - levels[other]))
                .collect();
            medians[arm]?;
            let height = offsets.iter().sum::<f64>() / offsets.len() as f64;
            Some((levels[arm] + height).exp())
        })
        .collect()
}

fn difference(state: &PairState) -> Option<Difference> {
    let found = state.interval().estimate;
    let difference = Difference { from: state.pair.base, to: state.pair.other, found };
    (!state.taken.is_empty()).then_some(difference)
}

/// The median of an arm's log times, block by block; that of its doubted slices where it
/// has no others.
fn log_median(blocks: &[Block<'_>], arm: usize) -> Option<f64> {
    let mut found = log_typicals(blocks, arm);
    if found.is_empty() {
        found = log_typicals_of(blocks, arm, |_| true);
    }
    let mut logs: Vec<f64> = found.into_iter().map(|(_, log)| log).collect();
    (!logs.is_empty()).then(|| stats::median(&mut logs))
}

/// For each arm the first of those that it is compared with, directly or through others.
fn groups(count: usize, compared: &[Difference]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..count).collect();
    for difference in compared {
        let (from, to) = (groups[difference.from], groups[difference.to]);
        let (first, other) = (from.min(to), from.max(to));
        groups.iter_mut().filter(|group| **group == other).for_each(|group| *group = first);
    }
    groups
}

#[cfg(test)]
mod tests {
    use model::arm::{Axis, Pair};
    use model::slice::Slice;

    use super::*;
    use crate::{blocks, testing};

    /// Blocks in which each arm's hundred operations took so long, one by one.
    fn typical_times(pairs: &[(usize, usize)], blocks: &[&[u64]]) -> Vec<Option<f64>> {
        let slices: Vec<Slice> = blocks
            .iter()
            .enumerate()
            .flat_map(|(block, typical_times)| {
                typical_times.iter().enumerate().map(move |(arm, typical)| {
                    let mut slice = testing::slice(arm, block);
                    slice.spent.elapsed_ns = typical * slice.operations;
                    slice
                })
            })
            .collect();
        let mut run = testing::run(blocks[0].len(), slices);
        let pair = |&(base, other)| Pair { base, other, axis: Axis::Place };
        run.plan.pairs = pairs.iter().map(pair).collect();
        of_arms(run.plan.arms.len(), &blocks::of(&run), &PairStates::of(&run))
    }

    fn assert_near(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|f| (f / expected - 1.0).abs() < 1e-6), "{found:?} {expected}");
    }

    #[test]
    fn the_ratio_of_two_tolls_is_that_of_their_stretches_though_their_medians_differ() {
        // The machine was slow in one block: medians of 120 and 200, yet twice in each.
        let found =
            typical_times(&[(0, 1)], &[&[100, 200], &[100, 200], &[1000, 2000], &[120, 240]]);
        assert_near(found[1].zip(found[0]).map(|(b, a)| b / a), 2.0);
    }

    #[test]
    fn the_tolls_lie_where_the_slices_do() {
        let found = typical_times(&[(0, 1)], &[&[100, 200], &[100, 200], &[100, 200]]);
        assert_near(found[0], 100.0);
        assert_near(found[1], 200.0);
    }

    #[test]
    fn an_arm_that_is_compared_with_none_has_its_own_median() {
        let found = typical_times(&[(0, 1)], &[&[100, 200, 7], &[100, 200, 9], &[100, 200, 8]]);
        assert_near(found[2], 8.0);
        assert_near(found[0], 100.0);
    }

    #[test]
    fn an_arm_whose_slices_are_all_doubted_has_a_toll_all_the_same() {
        let mut slice = testing::slice(0, 0);
        slice.outcome.untrusted = Some("the client was late".to_owned());
        let run = testing::run(1, vec![slice]);
        let found = of_arms(1, &blocks::of(&run), &PairStates::of(&run));
        assert_near(found[0], 10.0);
    }

    #[test]
    fn a_stall_leaves_the_typical_slice_where_it_is() {
        let calm: &[u64] = &[100, 200];
        let mut blocks = vec![calm; 40];
        blocks[14] = &[100, 90_000];
        assert_near(typical_times(&[(0, 1)], &blocks)[1], 200.0);
    }
}
