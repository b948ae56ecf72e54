//! Which comparisons save most, with intervals that allow for having been picked.
//!
//! The largest of many estimates owes some of its size to luck. An interval that shall
//! hold for what was picked, whatever the rule, is asked for at an error rate that is
//! smaller by the share of all statements that was picked (e-BY:
//! [`stats::selected_error_rate`]).

use model::analysis::{Comparison, Pick, Verdict};

use crate::pair_state::{ERROR_RATE, PairStates};

/// So many are picked at the most.
const PICKS_MAX: usize = 3;
/// Fewer comparisons than this are read one by one, and none need be picked.
const COMPARISONS_MIN: usize = 4;

/// Those that surely save the largest shares, the largest first.
pub(crate) fn of(states: &PairStates, comparisons: &[Comparison]) -> Vec<Pick> {
    if comparisons.len() < COMPARISONS_MIN {
        return Vec::new();
    }
    let statements = |comparison: &Comparison| 2 + usize::from(comparison.errors.is_some());
    let out_of = comparisons.iter().map(statements).sum();
    let saves = |index: &usize| comparisons[*index].verdict == Verdict::Faster;
    let saving: Vec<usize> = (0..comparisons.len()).filter(saves).collect();
    let picked = saving.len().min(PICKS_MAX);
    if picked == 0 {
        return Vec::new();
    }
    let error_rate = stats::selected_error_rate(picked, out_of, ERROR_RATE);
    let pick = |comparison: usize| {
        let interval = states.0[comparison].mean.interval_at(error_rate);
        Some(Pick {
            comparison,
            out_of: out_of as u64,
            ratio_low: interval.low.is_finite().then(|| interval.low.exp()),
            ratio_high: interval.high.is_finite().then(|| interval.high.exp())?,
        })
    };
    let mut picks: Vec<Pick> = saving.into_iter().filter_map(pick).collect();
    picks.sort_by(|a, b| a.ratio_high.total_cmp(&b.ratio_high));
    // What is not faster once the picking is allowed for is no gain to point at.
    picks.retain(|pick| pick.ratio_high < 1.0);
    picks.truncate(PICKS_MAX);
    picks
}
