//! Which comparisons save most, with intervals that allow for having been picked.
//!
//! The largest of many estimates owes some of its size to luck. An interval that shall
//! hold for what was picked, whatever the rule, is asked for at an error rate that is
//! smaller by the share of all statements that was picked ([`stats::selected_error_rate`]).

use model::analysis::{Comparison, Pick, Verdict};

use crate::comparisons::Ratios;
use crate::pair_state::PairStates;

/// So many are picked at the most.
const PICKS_MAX: usize = 3;
/// Fewer comparisons than this are read one by one, and none need be picked.
const COMPARISONS_MIN: usize = 4;

/// Those that surely save the largest shares, the largest first.
pub(crate) fn of(states: &PairStates, comparisons: &[Comparison], error_rate: f64) -> Vec<Pick> {
    if comparisons.len() < COMPARISONS_MIN {
        return Vec::new();
    }
    let statements = |comparison: &Comparison| 2 + usize::from(comparison.errors.is_some());
    let out_of = comparisons.iter().map(statements).sum();
    let saves = |index: &usize| comparisons[*index].verdict == Verdict::Faster;
    let saving: Vec<usize> = (0..comparisons.len()).filter(saves).collect();
    // With fewer picked each needs a wider interval, which may leave fewer still.
    for picked in (1..=saving.len().min(PICKS_MAX)).rev() {
        let error_rate = stats::selected_error_rate(picked, out_of, error_rate);
        let picks = surest(states, &saving, out_of, error_rate);
        if picks.len() >= picked {
            return picks.into_iter().take(picked).collect();
        }
    }
    Vec::new()
}

/// Those of the comparisons that are faster at an error rate, the surest first.
fn surest(states: &PairStates, saving: &[usize], out_of: usize, error_rate: f64) -> Vec<Pick> {
    let pick = |&comparison: &usize| {
        let Ratios { ratio_low, ratio_high, .. } =
            Ratios::of(states.0[comparison].mean.interval_at(error_rate), 1);
        Some(Pick { comparison, out_of: out_of as u64, ratio_low, ratio_high: ratio_high? })
    };
    let mut picks: Vec<Pick> = saving.iter().filter_map(pick).collect();
    picks.sort_by(|a, b| a.ratio_high.total_cmp(&b.ratio_high));
    // What is not faster once the picking is allowed for is no gain to point at.
    picks.retain(|pick| pick.ratio_high < 1.0);
    picks
}

#[cfg(test)]
mod tests {
    use model::run::Run;

    use crate::{analyse, testing};

    /// Twelve blocks of a base and five others, which take so many times as long, give or
    /// take a tenth.
    fn run(factors: [f64; 5]) -> Run {
        let mut slices = Vec::new();
        for block in 0..12 {
            for (arm, factor) in [1.0].into_iter().chain(factors).enumerate() {
                let mut slice = testing::slice(arm, block);
                let noise = 0.1 * ((block * 7 + arm * 3) % 5) as f64 - 0.2;
                slice.spent.elapsed_ns = (1e6 * factor * (0.5 * noise).exp()) as u64;
                slices.push(slice);
            }
        }
        testing::run(6, slices)
    }

    #[test]
    fn the_surest_gains_come_first_and_their_intervals_are_wider() {
        let analysis = analyse(&run([0.2, 1.0, 0.01, 0.5, 3.0]));
        let picked: Vec<usize> = analysis.picks.iter().map(|pick| pick.comparison).collect();
        assert_eq!(picked, [2, 0, 3]);
        for pick in &analysis.picks {
            let alone = &analysis.comparisons[pick.comparison];
            assert!(alone.ratio_high.is_some_and(|high| high < pick.ratio_high), "{pick:?}");
            assert_eq!(pick.out_of, 10, "five comparisons with a tail each");
        }
    }

    #[test]
    fn where_nothing_is_gained_nothing_is_picked() {
        assert_eq!(analyse(&run([1.0, 2.0, 3.0, 1.0, 1.0])).picks, []);
    }
}
