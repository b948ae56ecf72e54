//! What each combination took in each round: the dots of the charts.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::run::Run;
use model::slice::Slice;

/// The blocks in order, each with the times of the arms that it has, in nanoseconds.
/// Slices that are not to be trusted are left out.
pub(super) struct BlockTimes(Vec<BTreeMap<usize, f64>>);

/// A value of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OfBlock {
    /// Where in the run the block is, from 0 for the first to 1 for the last.
    pub(super) at: f64,
    pub(super) value: f64,
}

impl BlockTimes {
    pub(super) fn of(run: &Run) -> Self {
        Self(run.blocks().map(typical_times).collect())
    }

    pub(super) fn blocks(&self) -> usize {
        self.0.len()
    }

    /// An arm's times.
    pub(super) fn arm(&self, arm: usize) -> Vec<OfBlock> {
        self.each(|typical_times| typical_times.get(&arm).copied())
    }

    fn each(&self, value: impl Fn(&BTreeMap<usize, f64>) -> Option<f64>) -> Vec<OfBlock> {
        let last = self.0.len().saturating_sub(1).max(1) as f64;
        let blocks = self.0.iter().enumerate();
        let known =
            blocks.filter_map(|(number, typical_times)| Some((number, value(typical_times)?)));
        known.map(|(number, value)| OfBlock { at: number as f64 / last, value }).collect()
    }
}

fn typical_times(block: &[Slice]) -> BTreeMap<usize, f64> {
    let typical = |(arm, slice): (usize, Cow<Slice>)| {
        let typical_ns = slice.score_ns();
        let counts =
            slice.outcome.untrusted.is_none() && typical_ns.is_finite() && typical_ns > 0.0;
        counts.then_some((arm, typical_ns))
    };
    Slice::by_arm(block).into_iter().filter_map(typical).collect()
}

/// The value below which a share of them lies, sorted as they come.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).round() as usize).copied()
}

/// Values in order.
pub(super) fn sorted(values: &[OfBlock]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().map(|of| of.value).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}
