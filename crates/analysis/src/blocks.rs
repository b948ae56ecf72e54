//! The blocks of a run, in each of which an arm stands once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use model::run::Run;
use model::slice::Slice;

/// One block.
pub(crate) struct Block<'a> {
    /// Its number, from 0.
    pub(crate) number: usize,
    /// Each arm's slices as one.
    pub(crate) arms: BTreeMap<usize, Cow<'a, Slice>>,
}

/// All blocks of a run, in order.
pub(crate) fn of(run: &Run) -> Vec<Block<'_>> {
    let numbered = run.blocks().filter_map(|slices| Some((slices.first()?.block()?, slices)));
    numbered.map(|(number, slices)| Block { number, arms: Slice::by_arm(slices) }).collect()
}

/// An arm's log times, each with its block's number, those of doubted slices aside.
pub(crate) fn log_typicals(blocks: &[Block<'_>], arm: usize) -> Vec<(usize, f64)> {
    log_typicals_of(blocks, arm, |slice| slice.outcome.untrusted.is_none())
}

/// The same of the slices that are asked for.
pub(crate) fn log_typicals_of(
    blocks: &[Block<'_>],
    arm: usize,
    counts: impl Fn(&Slice) -> bool,
) -> Vec<(usize, f64)> {
    let log_typical = |block: &Block<'_>| {
        let slice = block.arms.get(&arm).filter(|slice| counts(slice))?;
        let log = slice.score_ns().ln();
        log.is_finite().then_some((block.number, log))
    };
    blocks.iter().filter_map(log_typical).collect()
}
