//! Whether times and ratios changed steadily while they were measured.
//!
//! A verdict is about one ratio. Where that moved during the run, as where an arm's
//! slices depend on how many there were before, it is a figure of no machine.

use model::analysis::{Comparison, Drift, RatioDrift};
use model::place::PlaceFacts;
use model::slice::Slice;
use model::spent::Spent;
use stats::Trend;
use units::three_digits;

use crate::blocks::{Block, log_typicals};
use crate::modes::typical;
use crate::pair_state::PairState;

/// How probable it is that any of a run's arms, or any of its comparisons, is said to
/// drift where none does.
const LEVEL: f64 = 0.01;

/// A kind of time is said to have changed an arm's time from this share of the change on.
const MOST: f64 = 0.5;
/// Reads a part of the time, in nanoseconds.
type Part = fn(&Spent) -> u64;

const KERNEL: &str = "the kernel's work";
/// Kinds of time that a slice's elapsed time has parts of, each with what it is called.
const PARTS: [(&str, Part); 5] = [
    ("waiting for a CPU", |spent| spent.run_queue_ns.unwrap_or_default()),
    ("syncs", |spent| spent.sync_ns),
    ("waiting for locks", |spent| spent.lock_ns),
    (KERNEL, |spent| spent.system_ns),
    ("the program's own work", |spent| spent.user_ns),
];

/// The drift of one of so many arms, which stands on that place.
pub(crate) fn of_arm(
    blocks: &[Block<'_>],
    arm: usize,
    arms: usize,
    place: &PlaceFacts,
) -> Option<Drift> {
    let Trend { start, end, .. } = trend(log_typicals(blocks, arm), arms)?;
    let why = changed_part(blocks, arm).map(|part| match part {
        KERNEL if end > start && place.journal == Some(false) && changes_names(blocks, arm) => {
            format!(
                "{KERNEL}; {} without a journal skips inodes that were freed within the last \
                 minutes, which takes longer the more there are",
                place.filesystem
            )
        }
        part => part.to_owned(),
    });
    Some(Drift { start_ns: start.exp(), end_ns: end.exp(), why })
}

/// The kind of time that makes at least half of how an arm's times changed, from the first
/// quarter of its blocks to the last.
fn changed_part(blocks: &[Block<'_>], arm: usize) -> Option<&'static str> {
    let slices: Vec<&Slice> = blocks
        .iter()
        .filter_map(|block| block.arms.get(&arm).map(AsRef::as_ref))
        .filter(|slice| slice.outcome.score_ns.is_none() && slice.outcome.untrusted.is_none())
        .collect();
    let quarter = (slices.len() / 4).max(1);
    let per_op = |part: Part, slices: &[&Slice]| typical(slices, |slice| part(&slice.spent));
    let change = |part: Part| {
        let (first, last) = (slices.get(..quarter)?, slices.get(slices.len() - quarter..)?);
        Some(per_op(part, last) - per_op(part, first))
    };
    let whole = change(|spent| spent.elapsed_ns)?;
    let share = |part: Part| change(part).map_or(0.0, |part| part / whole);
    let (share, name) = PARTS
        .iter()
        .map(|(name, part)| (share(*part), *name))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    (share >= MOST).then_some(name)
}

fn changes_names(blocks: &[Block<'_>], arm: usize) -> bool {
    let mut slices = blocks.iter().filter_map(|block| block.arms.get(&arm));
    slices.any(|slice| slice.spent.name_changes > 0)
}

/// The drift of one of so many comparisons.
pub(crate) fn of_pair(state: &PairState, pairs: usize) -> Option<RatioDrift> {
    let points = state.taken.iter().map(|taken| (taken.block, taken.log_ratio));
    let Trend { start, end, .. } = trend(points, pairs)?;
    Some(RatioDrift { start: start.exp(), end: end.exp() })
}

/// The trend of one of so many series, each a value by block.
fn trend(points: impl IntoIterator<Item = (usize, f64)>, series: usize) -> Option<Trend> {
    let points: Vec<(f64, f64)> =
        points.into_iter().map(|(block, value)| (block as f64, value)).collect();
    stats::trend(&points, LEVEL / series as f64)
}

/// Why a comparison is invalid whose ratio began or ended where its verdict is not true.
pub(crate) fn why_invalid(comparison: &Comparison) -> Option<String> {
    let RatioDrift { start, end } = comparison.drift?;
    let holds = |ratio| comparison.verdict.is_true_of(ratio, comparison.threshold);
    (!(holds(start) && holds(end))).then(|| {
        format!(
            "the ratio drifted from ×{} at the first round to ×{} at the last, so no single ratio \
             describes the run; see which arm's time per operation changed",
            three_digits(start),
            three_digits(end)
        )
    })
}

#[cfg(test)]
mod tests {
    use model::analysis::Verdict;
    use model::run::Run;

    use super::*;
    use crate::pair_state::PairStates;
    use crate::{blocks, testing};

    /// Forty blocks of two arms, the second of which takes so long in each, relative to
    /// the first.
    fn drifting(factor: impl Fn(usize) -> f64) -> Run {
        let slices = (0..40).flat_map(|block| {
            let mut other = testing::slice(1, block);
            // A little noise, so that there is a spread.
            let noise = 1.0 + 0.01 * ((block * 7 % 5) as f64 - 2.0);
            other.spent.elapsed_ns = (1e6 * factor(block) * noise) as u64;
            let mut base = testing::slice(0, block);
            base.spent.elapsed_ns = 1_000_000;
            [base, other]
        });
        testing::run(2, slices.collect::<Vec<Slice>>())
    }

    #[test]
    fn an_arm_that_drifts_is_told_with_its_start_and_end_and_a_steady_one_is_not() {
        let run = drifting(|block| 1.0 + block as f64 / 40.0);
        let place = &run.places[0];
        assert_eq!(of_arm(&blocks::of(&run), 0, 2, place), None);
        let drift = of_arm(&blocks::of(&run), 1, 2, place);
        let drift = drift.unwrap_or_else(|| panic!("a doubling is not told"));
        let grew = drift.end_ns / drift.start_ns;
        assert!((1.7..2.3).contains(&grew), "×{grew}");
        assert_eq!(drift.why, None, "nothing is known of what it was spent on");
        assert_eq!(of_arm(&blocks::of(&drifting(|_| 2.0)), 1, 2, place), None);
    }

    #[test]
    fn what_grew_is_named_where_the_rest_did_not() {
        let mut run = drifting(|block| 1.0 + block as f64 / 40.0);
        for slice in run.slices.iter_mut().filter(|slice| slice.arm == 1) {
            let noise = 1.0 + 0.01 * ((slice.spent.elapsed_ns % 5) as f64 - 2.0);
            slice.spent.system_ns = slice.spent.elapsed_ns - (5e5 * noise) as u64;
            slice.spent.name_changes = 100;
        }
        let why = |place: &PlaceFacts| of_arm(&blocks::of(&run), 1, 2, place).and_then(|d| d.why);
        assert_eq!(why(&run.places[0]).as_deref(), Some(KERNEL));
        let without = PlaceFacts { journal: Some(false), ..run.places[0].clone() };
        assert!(why(&without).is_some_and(|why| why.contains("without a journal")));
    }

    #[test]
    fn a_verdict_that_was_not_true_throughout_is_invalid() {
        let run = drifting(|block| 1.0 + block as f64 / 40.0);
        let drift = of_pair(&PairStates::of(&run).0[0], 1);
        assert!(drift.is_some());
        let of = |verdict| why_invalid(&Comparison { drift, ..testing::comparison(verdict) });
        assert!(of(Verdict::Slower).is_some_and(|why| why.contains("drifted from ×")));
        assert_eq!(of(Verdict::Unclear), None);
        let above = Some(RatioDrift { start: 1.2, end: 1.9 });
        let slower = Comparison { drift: above, ..testing::comparison(Verdict::Slower) };
        assert_eq!(why_invalid(&slower), None);
    }
}
