//! Whether what an arm leaves behind changes the time per operation of the next slice.

use model::analysis::CarryOver;
use model::run::Run;
use model::slice::Slice;
use stats::Step;

/// How probable it is that any of a run's arms is said to where none does.
const LEVEL: f64 = 0.01;

/// The arms that do, from the orders in which the slices ran.
pub(crate) fn found(run: &Run) -> Vec<CarryOver> {
    let before = std::iter::once(None).chain(run.slices.iter().map(|slice| Some(slice.arm)));
    let steps = run.slices.iter().zip(before).filter_map(|(slice, before)| step(slice, before));
    let steps: Vec<Step> = steps.collect();
    let found = stats::carry_over(&steps, LEVEL);
    let named = |found: stats::CarryOver| CarryOver {
        after: run.plan.arms[found.after].id.clone(),
        ratio: found.effect.exp(),
    };
    found.into_iter().map(named).collect()
}

/// A slice that counts, after the arm that ran before.
fn step(slice: &Slice, before: Option<usize>) -> Option<Step> {
    let log_typical = slice.score_ns().ln();
    let counts = slice.outcome.untrusted.is_none() && log_typical.is_finite();
    let block = slice.block().filter(|_| counts)?;
    Some(Step { arm: slice.arm, block, before, log_typical })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// Blocks of two arms in all four rotations, after the first of which the next
    /// slice takes so many times as long.
    fn after_the_first(factor: f64) -> Vec<CarryOver> {
        let orders = [[0, 0, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]];
        let mut before = 1;
        let mut slices = Vec::new();
        for block in 0..40 {
            for arm in orders[block * 7 % 4] {
                let mut slice = testing::slice(arm, block);
                let noise = 1.0 + 0.01 * ((slices.len() * 5 % 7) as f64 - 3.0);
                let carried = if before == 0 { factor } else { 1.0 };
                slice.spent.elapsed_ns = (1e6 * noise * carried) as u64;
                before = arm;
                slices.push(slice);
            }
        }
        found(&testing::run(2, slices))
    }

    #[test]
    fn an_arm_that_slows_what_follows_is_told_and_others_are_not() {
        assert_eq!(after_the_first(1.0), []);
        let found = after_the_first(1.3);
        let slowing = found.iter().find(|found| found.after == "a");
        assert!(slowing.is_some_and(|found| found.ratio > 1.1), "{found:?}");
    }
}
