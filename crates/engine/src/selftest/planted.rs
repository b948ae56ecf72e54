//! A slowdown added on purpose, which must be found.

use std::time::Duration;

use analysis::analyse;
use model::analysis::{Comparison, Verdict};
use model::run::Floor;
use model::selftest::Planted;

use super::rerun::Rerun;
use super::twins::{Ended, Rules, Tolls, Twins, ended};
use crate::runner::SliceRunner;

/// How much is added, as a share of the toll.
pub(super) const ADDED: f64 = 0.10;

/// Compares twins, the second of them slowed down by `added_ns` for each
/// operation, until it is decided or the runner's clock shows `until`. `None`
/// where not even a block could be completed.
pub(super) fn planted(
    twins: Twins<'_>,
    runner: &mut dyn SliceRunner,
    floor: &Floor,
    (added_ns, until): (f64, Duration),
    seed: u64,
    progress: &mut dyn FnMut(String),
) -> (Option<Planted>, Option<Ended>) {
    let worth = twins.job.worth;
    let rules = Rules { worth, budget: until.saturating_sub(runner.elapsed()), seed };
    let state = "looking for a planted slowdown";
    let rerun = Rerun::new(runner, floor, None);
    let run = twins.compare(&rules, rerun, &mut |_| progress(state.to_owned()));
    let ended = ended(&run);
    if ended.is_some() {
        return (None, ended);
    }
    let comparison = analyse(&run).comparisons.into_iter().next();
    let base = run.plan.pairs.first().map(|pair| pair.base);
    let tolls = base.and_then(|base| Tolls::of(run.slices_of(base)));
    let planted = comparison.zip(tolls).map(|(comparison, tolls)| {
        let added = added_ns / tolls.undisturbed_ns;
        Planted { added, added_ns, found: finds(&comparison, added), comparison }
    });
    (planted, None)
}

/// Whether a comparison finds what was added.
fn finds(comparison: &Comparison, added: f64) -> bool {
    let ratio = 1.0 + added;
    comparison.verdict == Verdict::Slower
        && comparison.ratio_low.is_none_or(|low| low <= ratio)
        && comparison.ratio_high.is_none_or(|high| ratio <= high)
}

#[cfg(test)]
mod tests {
    use model::analysis::TailComparison;
    use model::arm::Axis;

    use super::*;

    #[test]
    fn only_a_sure_slow_down_of_the_right_size_counts_as_found() {
        let comparison = |verdict, low, high| Comparison {
            base: "log/held@a".to_owned(),
            other: "log/held@b".to_owned(),
            axis: Axis::Place,
            ratio: Some(1.1),
            ratio_low: low,
            ratio_high: high,
            confidence: 0.95,
            saves_ns_per_op: None,
            worth: 0.05,
            verdict,
            blocks: 20,
            decided_after: None,
            totals: None,
            drift: None,
            errors: None,
            why: None,
            p99: TailComparison {
                ratio: None,
                ratio_low: None,
                ratio_high: None,
                verdict: Verdict::Unclear,
            },
            causes: Vec::new(),
            next: None,
        };
        assert!(finds(&comparison(Verdict::Slower, Some(1.06), Some(1.14)), ADDED));
        assert!(finds(&comparison(Verdict::Slower, Some(1.06), None), ADDED));
        assert!(!finds(&comparison(Verdict::Unclear, Some(1.02), Some(1.18)), ADDED));
        assert!(!finds(&comparison(Verdict::Slower, Some(1.12), Some(1.3)), ADDED));
        assert!(!finds(&comparison(Verdict::Slower, Some(1.051), Some(1.09)), ADDED));
    }
}
