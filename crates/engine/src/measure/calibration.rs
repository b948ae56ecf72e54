//! How many operations a slice of each arm has: enough to fill it, and as many as those of an arm
//! that takes about as long.

use std::time::Duration;

use model::arm::Pair;
use model::slice::Phase;

use super::{Event, ROUNDS_OF_SHARES, Session, Stop, WARMUP, times_in_block};
use crate::job::Job;
use crate::run_limits::GENTLE_SLICE_MAX;

/// A slice should last this long where the budget allows: long enough that
/// starting and ending it do not matter, short enough for many rounds.
const SLICE_MAX: Duration = Duration::from_millis(5);
/// Below this, starting and ending a slice begin to show.
const SLICE_MIN: Duration = Duration::from_millis(4);
/// The rounds that the budget should have room for: five a stretch, of which the lowest and
/// the highest are left out.
const BLOCKS_WANTED: u32 = 50;
/// The share of the budget that goes into the slices themselves; the rest goes
/// into making files, settling and removing them.
const SLICE_SHARE: f64 = 0.5;
/// While some arms are not calibrated yet, the time needed is a guess. The budget is called too short
/// only if that guess exceeds it by this factor.
const SURELY: f64 = 2.0;
/// Compared arms get slices of the same size where a slice of one has less
/// than this many times the operations of the other's.
const ALIKE: f64 = 2.0;

impl Session<'_> {
    /// Finds for each arm how many operations fill a slice, in the folders that the first
    /// stretch goes on with.
    pub(super) fn calibrate(&mut self) -> Result<(), Stop> {
        self.runner.begin_stretch();
        let first_began = self.runner.elapsed();
        for arm in 0..self.job.arms.len() {
            let target_ns = self.target_ns(arm);
            let limits = self.runner.operations(arm);
            let mut operations = limits.fit(1.0);
            // The first slice includes one-time setup, such as starting an interpreter, so
            // it does not show how many operations fill a slice.
            if limits.fit(f64::MAX) <= operations {
                self.operations[arm] = operations;
                continue;
            }
            let began = self.runner.elapsed();
            if self.slice(arm, operations, Phase::Calibration)?.is_none() {
                continue;
            }
            let (set_up, mut second) = (self.runner.elapsed(), None);
            while let Some(slice) = self.slice(arm, operations, Phase::Calibration)? {
                let elapsed_ns = slice.spent.elapsed_ns.max(1) as f64;
                second.get_or_insert(self.runner.elapsed());
                let full = limits.fit(operations as f64 * target_ns / elapsed_ns);
                // A short slice says little about a long one: grow by at most tenfold.
                let next = full.min(limits.fit(operations as f64 * 10.0));
                // Because of the fixed cost of a slice, a short one looks full.
                let settled = next <= operations.saturating_mul(2);
                operations = next;
                if settled {
                    break;
                }
            }
            self.operations[arm] = operations;
            let again = second.unwrap_or(set_up).saturating_sub(set_up);
            self.setup_time += set_up.saturating_sub(began).saturating_sub(again);
            self.foresee(first_began, arm + 1);
        }
        self.keep();
        Ok(())
    }

    /// Runs whole blocks that do not count, until the arms stop getting faster.
    pub(super) fn warm_up(&mut self) -> Result<(), Stop> {
        let mut times_ns = vec![Vec::new(); self.job.arms.len()];
        let warming: Vec<usize> =
            (0..times_ns.len()).filter(|arm| self.runner.warms_up(*arm)).collect();
        loop {
            let order = self.orders.once(warming.clone());
            let block = self.block(&order, Phase::Warmup, None)?;
            for slice in &self.slices[block] {
                times_ns[slice.arm].push(slice.score_ns());
            }
            let warm = |(arm, times): (usize, &Vec<f64>)| {
                !self.runner.warms_up(arm) || self.failures[arm].is_some() || WARMUP.is_over(times)
            };
            if times_ns.iter().enumerate().all(warm) {
                break;
            }
        }
        self.resize(&times_ns);
        Ok(())
    }

    /// Gives the slices their final size, by the fastest that was seen.
    ///
    /// Two arms that take equally long must have slices of one size: a long
    /// slice is interrupted more evenly than a short one, so that on a busy
    /// machine slices of two sizes differ by more than chance. The paired ratio
    /// would then lean to one side, and lead to false verdicts.
    fn resize(&mut self, times_ns: &[Vec<f64>]) {
        for (arm, times_ns) in times_ns.iter().enumerate() {
            let fastest_ns = times_ns.iter().copied().fold(f64::INFINITY, f64::min);
            if fastest_ns.is_finite() && fastest_ns > 0.0 {
                let target_ns = self.target_ns(arm);
                let fitting = self.runner.operations(arm).fit(target_ns / fastest_ns);
                self.operations[arm] = fitting;
            }
        }
        // What is alike may be so through a third, so again until nothing changes;
        // sizes only shrink, which ends it.
        while self.job.pairs.iter().any(|pair| self.equalise(*pair)) {}
        for (arm, &operations) in self.operations.iter().enumerate() {
            (self.events)(Event::Calibrated { arm, operations });
        }
    }

    /// What the operations of an arm's slice should take together: those of several clients
    /// pass at the same time.
    fn target_ns(&self, arm: usize) -> f64 {
        let target = match self.job.shares.get(arm) {
            Some(share) if !self.job.run_limits.gentle => {
                self.job.budget.mul_f64(*share / f64::from(ROUNDS_OF_SHARES))
            }
            _ => slice_target(self.job),
        };
        target.as_nanos() as f64 * self.job.arms[arm].clients() as f64
    }

    /// Gives both arms the smaller size if they are alike; whether that changed one.
    fn equalise(&mut self, pair: Pair) -> bool {
        let [base, other] = [pair.base, pair.other].map(|arm| self.operations[arm]);
        let (smaller, larger) = (base.min(other), base.max(other));
        if smaller == larger || larger as f64 >= ALIKE * smaller as f64 {
            return false;
        }
        let arm = if base > other { pair.base } else { pair.other };
        let limits = self.runner.operations(arm);
        // One that cannot have that size keeps its own.
        let fits = limits.fit(smaller as f64) == smaller;
        if fits {
            self.operations[arm] = smaller;
        }
        fits
    }

    /// Estimates from the first `calibrated` arms, which were begun at `first_began`, whether the
    /// budget has room for an answer, and reports it if not.
    pub(super) fn foresee(&mut self, first_began: Duration, calibrated: usize) {
        let arms = self.job.arms.len() as u32;
        let took = self.runner.elapsed().saturating_sub(first_began);
        let round = took * arms / self.slices.len().max(1) as u32;
        let all = took * arms / calibrated as u32;
        let stretches_begin = first_began + all + round * WARMUP.most as u32;
        self.say_if_too_short(stretches_begin, round, SURELY);
    }
}

fn slice_target(job: &Job) -> Duration {
    let arms = job.arms.len().max(1);
    let slices = BLOCKS_WANTED * (arms * times_in_block(arms)) as u32;
    let longest = if job.run_limits.gentle { GENTLE_SLICE_MAX } else { SLICE_MAX };
    (job.budget.mul_f64(SLICE_SHARE) / slices).clamp(SLICE_MIN, longest)
}
