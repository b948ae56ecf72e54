//! Which arms the next block needs, and when there are blocks enough.
//!
//! A comparison is finished once its verdict is sure and its interval is precise.
//! Until then its arms take part, whatever else is finished. Every second block goes
//! to the widest intervals alone, so that what is left of the budget goes where it
//! tells most, and none waits for others to the end. The choice rests on the blocks
//! before, never on the one to come, so that verdicts hold whatever is chosen.

use analysis::{PairProgress, PairStates};
use model::arm::Pair;

use crate::job::Job;

/// Even when all is sure and precise earlier, the tolls shown rest on this many blocks.
pub(crate) const BLOCKS_MIN: usize = 10;
/// Where nothing is compared, this many blocks describe an arm well enough.
const BLOCKS_ALONE: usize = 20;
/// What is still open after so many blocks is too close to call.
pub(crate) const BLOCKS_MAX: usize = 2000;
/// Where no difference is too small to matter, an interval is precise at ±1%.
const PRECISION_MIN: f64 = 0.01;

/// Decides what comes next, going by what is known so far.
pub(crate) struct Schedule<'a> {
    pub(crate) job: &'a Job,
    pub(crate) states: &'a PairStates,
    /// Whether each arm can still be timed.
    pub(crate) alive: &'a [bool],
}

impl Schedule<'_> {
    /// Whether another block is wanted after so many.
    pub(crate) fn wants_more(&self, blocks: usize) -> bool {
        let least = if self.job.pairs.is_empty() { BLOCKS_ALONE } else { BLOCKS_MIN };
        let any_left = self.alive.iter().any(|alive| *alive);
        any_left && blocks < BLOCKS_MAX && (blocks < least || !self.unfinished().is_empty())
    }

    /// The arms of the block of that number, from 0.
    pub(crate) fn arms(&self, block: usize) -> Vec<usize> {
        let all = 0..self.job.arms.len();
        if block < BLOCKS_MIN || self.job.pairs.is_empty() {
            return all.filter(|arm| self.alive[*arm]).collect();
        }
        let mut wanted = self.unfinished();
        if !block.is_multiple_of(2) {
            widest_half(&mut wanted);
        }
        let takes_part = |arm: &usize| {
            wanted.iter().any(|(pair, _)| pair.base == *arm || pair.other == *arm)
        };
        all.filter(takes_part).collect()
    }

    /// The comparisons that are not finished and can be, with the width of their intervals.
    fn unfinished(&self) -> Vec<(Pair, f64)> {
        let precise = 2.0 * self.job.worth.max(PRECISION_MIN).ln_1p();
        let unfinished = |progress: PairProgress| {
            let PairProgress { pair, is_decided, width } = progress;
            let alive = self.alive[pair.base] && self.alive[pair.other];
            (alive && !(is_decided && width <= precise)).then_some((pair, width))
        };
        self.states.progress().filter_map(unfinished).collect()
    }
}

/// Keeps the comparisons whose intervals are at least as wide as their median.
fn widest_half(pairs: &mut Vec<(Pair, f64)>) {
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    pairs.truncate(pairs.len().div_ceil(2));
}
