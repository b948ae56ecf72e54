//! Which arms the next block needs, and when there are blocks enough.
//!
//! A comparison is finished once its verdict is sure and its interval is precise, and
//! the run when all are. Until then every second block has all arms, those of finished
//! comparisons as well: a disk may be a tenth slower for the next ten seconds, and what
//! was measured early alone would speak of the run's beginning. The other blocks go to
//! the widest intervals alone, so that what is left of the budget goes where it tells
//! most. The choice rests on the blocks before, never on the one to come, so that
//! verdicts hold whatever is chosen.

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
        if block < BLOCKS_MIN || self.job.pairs.is_empty() || block.is_multiple_of(2) {
            return all.filter(|arm| self.alive[*arm]).collect();
        }
        let mut wanted = self.unfinished();
        widest_half(&mut wanted);
        let takes_part =
            |arm: &usize| wanted.iter().any(|(pair, _)| pair.base == *arm || pair.other == *arm);
        all.filter(takes_part).collect()
    }

    /// The comparisons that are not finished and can be, with the width of their intervals.
    fn unfinished(&self) -> Vec<(Pair, f64)> {
        let precise = 2.0 * self.job.threshold.max(PRECISION_MIN).ln_1p();
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::arm::Axis;
    use model::slice::{Phase, Slice};

    use super::*;
    use crate::testing;

    /// A job of so many arms, all but the first held against it.
    fn job(arms: usize) -> Job {
        let pair = |other| Pair { base: 0, other, axis: Axis::Place };
        let pairs = (1..arms).map(pair).collect();
        testing::job(testing::arms(arms), pairs, Duration::from_secs(60))
    }

    /// What is known after so many blocks, in each of which an arm takes its factor
    /// times as long as the first, give or take its noise.
    fn states(job: &Job, blocks: usize, arms: &[(f64, f64)]) -> PairStates {
        let mut states = PairStates::new(&job.pairs, stats::Settings::default());
        for block in 0..blocks {
            let slice = |(arm, (factor, noise)): (usize, &(f64, f64))| {
                let even = ((block * 7 + arm) % 9) as f64 / 4.0 - 1.0;
                let mut slice = Slice { arm, operations: 1, ..Slice::default() };
                slice.phase = Phase::Block(block);
                slice.spent.elapsed_ns = (1e6 * factor * (noise * even).exp()) as u64;
                slice
            };
            let slices: Vec<Slice> = arms.iter().enumerate().map(slice).collect();
            states.take_block(&slices);
        }
        states
    }

    #[test]
    fn every_second_block_is_without_what_is_sure_and_precise() {
        let job = job(3);
        // The second is twice as slow and steady; the third scatters about the first.
        let states = states(&job, 40, &[(1.0, 0.01), (2.0, 0.01), (1.0, 0.8)]);
        let schedule = Schedule { job: &job, states: &states, alive: &[true; 3] };
        assert_eq!(schedule.arms(3), [0, 1, 2], "the first blocks have all");
        assert_eq!(schedule.arms(40), [0, 1, 2]);
        assert_eq!(schedule.arms(41), [0, 2]);
        assert!(schedule.wants_more(40));
    }

    #[test]
    fn a_verdict_alone_does_not_end_the_run_and_precision_does() {
        let job = job(2);
        let sure = states(&job, 12, &[(1.0, 0.9), (9.0, 0.9)]);
        let schedule = Schedule { job: &job, states: &sure, alive: &[true; 2] };
        assert_eq!(sure.decided(), 1);
        assert!(schedule.wants_more(12), "a wide interval goes on narrowing");
        let precise = states(&job, 40, &[(1.0, 0.01), (3.0, 0.01)]);
        let schedule = Schedule { job: &job, states: &precise, alive: &[true; 2] };
        assert!(!schedule.wants_more(40));
    }

    #[test]
    fn every_second_block_is_for_the_widest() {
        let job = job(3);
        let states = states(&job, 20, &[(1.0, 0.01), (2.0, 0.4), (3.0, 1.5)]);
        let schedule = Schedule { job: &job, states: &states, alive: &[true; 3] };
        assert_eq!(schedule.arms(20), [0, 1, 2]);
        assert_eq!(schedule.arms(21), [0, 2]);
    }

    #[test]
    fn an_arm_that_failed_keeps_nobody_waiting() {
        let job = job(2);
        let states = states(&job, 12, &[(1.0, 0.5), (1.0, 0.5)]);
        let schedule = Schedule { job: &job, states: &states, alive: &[true, false] };
        assert!(!schedule.wants_more(12));
        assert_eq!(schedule.arms(4), [0]);
    }
}
