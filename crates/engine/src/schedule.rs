//! When there are stretches enough, and rounds enough in each.
//!
//! A comparison is finished once its verdict is sure and its interval is precise, and
//! the run when all are, at one of the times at which they are looked at. Until then every
//! round has all arms, those of finished comparisons as well: a disk may be a tenth slower for
//! the next ten seconds, and a verdict has to bear that out.

use std::time::Duration;

use analysis::{PairProgress, PairStates};
use stats::STRETCHES;

use crate::job::Job;

/// If nothing is compared, an arm is measured for this many rounds. An arm with a share of the budget
/// is measured until the budget ends.
const BLOCKS_ALONE: usize = 20;
/// No run has more rounds than this; more would tell next to nothing.
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
    /// Whether another stretch is wanted after so many.
    pub(crate) fn wants_more(&self, stretches: usize) -> bool {
        let is_over = !self.job.pairs.is_empty() && stats::is_look(stretches) && self.is_finished();
        stretches < STRETCHES && self.alive.contains(&true) && !is_over
    }

    /// The arms of the next round.
    pub(crate) fn arms(&self) -> Vec<usize> {
        (0..self.job.arms.len()).filter(|arm| self.alive[*arm]).collect()
    }

    /// Whether all comparisons are finished whose arms can still be timed.
    fn is_finished(&self) -> bool {
        let precise = 2.0 * self.job.threshold.max(PRECISION_MIN).ln_1p();
        self.states.progress().all(|PairProgress { pair, is_decided, width }| {
            let is_alive = self.alive[pair.base] && self.alive[pair.other];
            !is_alive || is_decided && width <= precise
        })
    }
}

/// The most rounds that a job has.
pub(crate) fn blocks_max(job: &Job) -> usize {
    let is_described = job.pairs.is_empty() && job.shares.is_empty();
    let enough = if is_described { BLOCKS_ALONE } else { BLOCKS_MAX };
    job.rounds.map_or(enough, |rounds| rounds.get() as usize).min(BLOCKS_MAX)
}

/// When the stretch of this number, from 0, ends at the latest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StretchEnd {
    /// By the runner's clock.
    pub(crate) time: Duration,
    /// After so many rounds of the run.
    pub(crate) blocks: usize,
}

impl StretchEnd {
    /// The stretches divide what is left of the budget, once it began to count, and the
    /// rounds, of which each has one at least.
    pub(crate) fn of(stretch: usize, job: &Job, began: Duration) -> Self {
        let (number, of) = (stretch + 1, STRETCHES);
        let left = job.budget.saturating_sub(began);
        let blocks = blocks_max(job);
        Self {
            time: began + left.mul_f64(number as f64 / of as f64),
            blocks: (blocks * number / of).max(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use model::arm::{Axis, Pair};
    use model::slice::{Phase, Slice};

    use super::*;
    use crate::testing;

    /// A job of so many arms, all but the first held against it.
    fn job(arms: usize) -> Job {
        let pair = |other| Pair { base: 0, other, axis: Axis::Place };
        let pairs = (1..arms).map(pair).collect();
        testing::job(testing::arms(arms), pairs, Duration::from_secs(60))
    }

    /// What is known after so many stretches of four rounds, in each of which an arm takes its
    /// factor times as long as the first, give or take its noise.
    fn states(job: &Job, stretches: usize, arms: &[(f64, f64)]) -> PairStates {
        let mut states = PairStates::new(&job.pairs, stats::Settings::default(), &[]);
        for block in 0..4 * stretches {
            let slice = |(arm, (factor, noise)): (usize, &(f64, f64))| {
                let even = ((block * block * 7 + arm * 5) % 11) as f64 / 5.0 - 1.0;
                let mut slice = Slice { arm, operations: 1, ..Slice::default() };
                slice.phase = Phase::Block(block);
                slice.spent.elapsed_ns = (1e6 * factor * (noise * even).exp()) as u64;
                slice
            };
            let slices: Vec<Slice> = arms.iter().enumerate().map(slice).collect();
            states.take_block(&slices);
            if block % 4 == 3 {
                states.end_stretch();
            }
        }
        states
    }

    fn wants_more(job: &Job, stretches: usize, arms: &[(f64, f64)], alive: &[bool]) -> bool {
        let states = states(job, stretches, arms);
        Schedule { job, states: &states, alive }.wants_more(stretches)
    }

    #[test]
    fn a_run_ends_at_a_look_once_all_is_sure_and_precise() {
        let (job, precise) = (job(3), [(1.0, 0.01), (2.0, 0.01), (3.0, 0.01)]);
        let wants_more = |stretches| wants_more(&job, stretches, &precise, &[true; 3]);
        let wanted: Vec<bool> = (0..=10).map(wants_more).collect();
        let expected = [0, 1, 2, 3, 4, 6, 8, 9];
        assert_eq!(wanted, (0..=10).map(|n| expected.contains(&n)).collect::<Vec<bool>>());
    }

    #[test]
    fn a_verdict_alone_does_not_end_the_run() {
        let job = job(2);
        let wide = [(1.0, 0.5), (9.0, 0.5)];
        assert_eq!(states(&job, 5, &wide).decided(), 1);
        assert!(wants_more(&job, 5, &wide, &[true; 2]), "a wide interval goes on narrowing");
        assert!(!wants_more(&job, 10, &wide, &[true; 2]), "ten are all");
    }

    #[test]
    fn an_arm_that_failed_keeps_nobody_waiting() {
        let (job, wide) = (job(2), [(1.0, 0.5), (1.0, 0.5)]);
        let states = states(&job, 5, &wide);
        let schedule = Schedule { job: &job, states: &states, alive: &[true, false] };
        assert!(!schedule.wants_more(5));
        assert_eq!(schedule.arms(), [0]);
    }

    #[test]
    fn stretches_divide_the_time_and_the_rounds_and_each_has_one() {
        let seconds = Duration::from_secs;
        let job = Job { rounds: NonZeroU32::new(43), ..job(2) };
        let end = |stretch| StretchEnd::of(stretch, &job, seconds(10));
        assert_eq!(end(0), StretchEnd { time: seconds(15), blocks: 4 });
        assert_eq!(end(9), StretchEnd { time: seconds(60), blocks: 43 });
        let few = Job { rounds: NonZeroU32::new(3), ..job.clone() };
        let blocks: Vec<usize> =
            (0..4).map(|stretch| StretchEnd::of(stretch, &few, seconds(10)).blocks).collect();
        assert_eq!(blocks, [1, 2, 3, 4]);
    }
}
