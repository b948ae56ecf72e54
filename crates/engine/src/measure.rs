//! The main loop: calibrate, warm up, then ten stretches of rounds, or fewer where
//! everything is sure and precise before.

mod calibration;

use std::ops::Range;
use std::time::Duration;

use analysis::PairStates;
use model::between_runs::BetweenRuns;
use model::run::Run;
use model::slice::{Phase, Slice};
pub use stats::{STRETCHES, STRETCHES_MIN};
use stats::{Settings, Warmup};

use crate::error::StudyError;
use crate::job::Job;
use crate::order::{BALANCED_MAX, Orders};
use crate::runner::SliceRunner;
use crate::schedule::{Schedule, StretchEnd, blocks_max};

/// The rounds of a run whose arms have shares of the budget: one for each stretch.
const ROUNDS_OF_SHARES: u32 = STRETCHES as u32;
/// Warming up is over once no arm is more than 10% faster than in the block
/// before, or after three blocks.
const WARMUP: Warmup = Warmup { gain: 0.10, most: 3 };
/// A round may take so much longer than those before.
const LONGER: f64 = 1.1;
/// Each is more than twice as long as the one before, and none has more than 2³²
/// operations.
const CALIBRATION_SLICES_MAX: u64 = 34;

/// What was measured.
pub(crate) struct Measurement {
    /// Every slice, in the order in which they ran.
    pub(crate) slices: Vec<Slice>,
    /// Why an arm could not go on, if so.
    pub(crate) failures: Vec<Option<String>>,
    /// Whether the run was interrupted.
    pub(crate) interrupted: bool,
    /// Why it ended before its budget did, if so.
    pub(crate) ended_early: Option<String>,
}

/// What happens while measuring, for whoever shows progress or keeps what is measured.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// Measuring begins: the run's record, without slices so far.
    Begun(&'a Run),
    /// Slices are complete, and follow the ones before. The next slice does not begin
    /// before whoever is told this is done with it.
    Kept(&'a [Slice]),
    /// An arm's slices got their size.
    Calibrated {
        /// The arm.
        arm: usize,
        /// Operations per slice.
        operations: u64,
    },
    /// The budget has room for fewer stretches than an answer takes.
    TooShort {
        /// For how many, about.
        stretches: usize,
        /// About the budget that has room for enough.
        enough: Duration,
    },
    /// A slice is about to run.
    Slice {
        /// The arm.
        arm: usize,
        /// What for.
        phase: Phase,
    },
    /// A block is complete.
    Block {
        /// How many there are now.
        blocks: usize,
        /// Stretches that are complete.
        stretches: usize,
        /// Comparisons decided.
        decided: usize,
        /// Comparisons in all.
        comparisons: usize,
        /// How far each is.
        states: &'a PairStates,
    },
    /// An arm cannot go on.
    Failed {
        /// The arm.
        arm: usize,
        /// Why.
        why: &'a str,
    },
}

/// Measures a job, whose pairs differ from run to run as saved runs showed.
pub(crate) fn measure(
    job: &Job,
    between_runs: &[BetweenRuns],
    runner: &mut dyn SliceRunner,
    events: &mut dyn FnMut(Event<'_>),
) -> Measurement {
    runner.end_at(job.budget);
    let mut session = Session::new(job, between_runs, runner, events);
    let outcome =
        session.calibrate().and_then(|()| session.warm_up()).and_then(|()| session.stretches());
    if matches!(outcome, Err(Stop::Budget)) {
        session.say_if_no_round_fitted();
    }
    let (interrupted, ended_early) = match outcome {
        Ok(()) | Err(Stop::Budget) => (false, None),
        Err(Stop::Requested) => (true, None),
        Err(Stop::Early(why)) => (false, Some(why)),
    };
    let Session { slices, failures, .. } = session;
    Measurement { slices, failures, interrupted, ended_early }
}

/// Why measuring ends before its natural end.
enum Stop {
    /// A signal asked for it.
    Requested,
    /// The budget is spent.
    Budget,
    /// Something else is, and what.
    Early(String),
}

struct Session<'a> {
    job: &'a Job,
    runner: &'a mut dyn SliceRunner,
    events: &'a mut dyn FnMut(Event<'_>),
    orders: Orders,
    /// Operations that a slice of each arm has.
    operations: Vec<u64>,
    failures: Vec<Option<String>>,
    slices: Vec<Slice>,
    /// How many of them were told of as kept.
    kept: usize,
    states: PairStates,
    /// How long a block takes, going by the latest ones.
    block_time: Duration,
    /// How much longer the first slice of every arm took than the next: what is made in new
    /// folders, which each stretch makes again.
    setup_time: Duration,
    /// Whether it was reported that the budget is too short.
    is_too_short: bool,
}

impl<'a> Session<'a> {
    fn new(
        job: &'a Job,
        between_runs: &[BetweenRuns],
        runner: &'a mut dyn SliceRunner,
        events: &'a mut dyn FnMut(Event<'_>),
    ) -> Self {
        let arms = job.arms.len();
        Self {
            job,
            runner,
            events,
            orders: Orders::new(job.seed),
            operations: vec![1; arms],
            failures: vec![None; arms],
            slices: Vec::new(),
            kept: 0,
            states: PairStates::new(
                &job.pairs,
                Settings { threshold: job.threshold, error_rate: job.error_rate },
                between_runs,
            ),
            block_time: Duration::ZERO,
            setup_time: Duration::ZERO,
            is_too_short: false,
        }
    }

    /// Runs stretches until all is sure and precise or the budget is spent.
    fn stretches(&mut self) -> Result<(), Stop> {
        let began = self.runner.elapsed();
        let room = self.job.budget.saturating_sub(began);
        self.say_if_too_short(began, self.block_time, 1.0);
        let is_balanced = self.is_balanced(room);
        if is_balanced {
            self.block_time *= self.job.arms.len() as u32;
        }
        let mut blocks = 0;
        for stretch in 0..STRETCHES {
            let alive = self.alive();
            let schedule = Schedule { job: self.job, states: &self.states, alive: &alive };
            if !schedule.wants_more(stretch) {
                return Ok(());
            }
            if stretch > 0 {
                if !self.job.shares.is_empty() {
                    self.fit_into(self.job.budget.saturating_sub(self.runner.elapsed()), stretch);
                }
                self.runner.begin_stretch();
            }
            self.orders.begin_stretch();
            let end = StretchEnd::of(stretch, self.job, began);
            self.stretch(stretch, end, is_balanced, &mut blocks)?;
            self.states.end_stretch();
            if self.job.rounds.is_some_and(|most| blocks >= most.get() as usize) {
                return Err(Stop::Early("it has all the rounds that were asked for".to_owned()));
            }
        }
        Ok(())
    }

    /// Gives slices fewer operations where the rounds of the stretches that are left would not fit
    /// into what is left of the budget: a machine may be busier than when arms were calibrated.
    fn fit_into(&mut self, left: Duration, stretch: usize) {
        let each = left.as_secs_f64() / (STRETCHES - stretch) as f64;
        let takes = (LONGER * self.block_time.as_secs_f64()).max(f64::MIN_POSITIVE);
        let fewer = (each / takes).min(1.0);
        for arm in 0..self.operations.len() {
            let fitting = self.runner.operations(arm).fit(self.operations[arm] as f64 * fewer);
            self.operations[arm] = fitting.min(self.operations[arm]);
        }
        self.block_time = self.block_time.mul_f64(fewer);
    }

    /// Runs one stretch, of at least one round.
    fn stretch(
        &mut self,
        stretch: usize,
        end: StretchEnd,
        is_balanced: bool,
        blocks: &mut usize,
    ) -> Result<(), Stop> {
        loop {
            let alive = self.alive();
            let arms = Schedule { job: self.job, states: &self.states, alive: &alive }.arms();
            let order = match arms.len() {
                0 => return Ok(()),
                2..=BALANCED_MAX if is_balanced => self.orders.balanced(&arms),
                _ => self.orders.once(arms),
            };
            let block = self.block(&order, Phase::Block(*blocks), Some(stretch))?;
            self.states.take_block(&self.slices[block]);
            *blocks += 1;
            (self.events)(Event::Block {
                blocks: *blocks,
                stretches: stretch,
                decided: self.states.decided(),
                comparisons: self.job.pairs.len(),
                states: &self.states,
            });
            let next = self.runner.elapsed() + self.block_time.mul_f64(LONGER);
            if next > end.time || *blocks >= end.blocks {
                return Ok(());
            }
        }
    }

    /// Reports, at most once, that the budget has no room for an answer: if stretches begin at
    /// `began` and each has one round, the time needed exceeds `surely` times the budget.
    fn say_if_too_short(&mut self, began: Duration, round: Duration, surely: f64) {
        let longest = self.setup_time + round.mul_f64(LONGER);
        let least = longest * STRETCHES_MIN as u32;
        // A check has an answer for each arm, although arms are not compared.
        let has_answers = !self.job.pairs.is_empty() || !self.job.shares.is_empty();
        if self.is_too_short || !has_answers || began + least <= self.job.budget.mul_f64(surely) {
            return;
        }
        self.is_too_short = true;
        let room = self.job.budget.saturating_sub(began);
        let stretches = (room.as_secs_f64() / longest.as_secs_f64()) as usize;
        (self.events)(Event::TooShort { stretches, enough: began + least.mul_f64(LONGER) });
    }

    /// Reports how long an answer takes if the budget ended before the first round did. The
    /// estimate comes from the slices that ran.
    fn say_if_no_round_fitted(&mut self) {
        if self.slices.iter().all(|slice| slice.block().is_none()) {
            let slices = self.slices.len().max(1) as u32;
            let round = self.runner.elapsed() * self.job.arms.len() as u32 / slices;
            // Calibrating and warming up take a round each at the least.
            self.say_if_too_short(round * 2, round, 1.0);
        }
    }

    /// Whether each arm is to follow each. Where every slice starts everything again it
    /// inherits nothing from the one before, and where slices are long a stretch has no room
    /// for so many of them.
    fn is_balanced(&self, room: Duration) -> bool {
        let arms = self.job.arms.len();
        let inherits = (0..arms).any(|arm| self.runner.warms_up(arm));
        let takes = self.block_time.mul_f64(LONGER) * arms as u32;
        inherits && (2..=BALANCED_MAX).contains(&arms) && takes <= room / STRETCHES as u32
    }

    /// Which arms can still be timed.
    fn alive(&self) -> Vec<bool> {
        self.failures.iter().map(Option::is_none).collect()
    }

    /// Runs a slice of each arm of the order; the slices are those of the range that
    /// it returns.
    fn block(
        &mut self,
        order: &[usize],
        phase: Phase,
        stretch: Option<usize>,
    ) -> Result<Range<usize>, Stop> {
        let began = self.runner.elapsed();
        // A block that would end beyond the budget is not begun.
        if began + self.block_time.mul_f64(LONGER) > self.job.budget {
            return Err(Stop::Budget);
        }
        let first = self.slices.len();
        for &arm in order {
            if self.failures[arm].is_some() {
                continue;
            }
            let position = self.slices.len() - first;
            match self.slice(arm, self.operations[arm], phase) {
                Ok(None) => {}
                Ok(Some(slice)) => {
                    slice.position = position;
                    if first == 0 {
                        // Nothing had to be calibrated, so nothing is known of any arm before.
                        self.foresee(began, position + 1);
                    }
                }
                Err(stop) => {
                    for slice in &mut self.slices[first..] {
                        slice.phase = Phase::Unfinished;
                    }
                    return Err(stop);
                }
            }
        }
        for slice in &mut self.slices[first..] {
            slice.stretch = stretch;
        }
        self.keep();
        let took = self.runner.elapsed().saturating_sub(began);
        // One slow block is remembered for a while, but not for ever.
        self.block_time = took.max(self.block_time.mul_f64(0.7));
        Ok(first..self.slices.len())
    }

    /// Tells of the slices that are new: they will not change any more.
    fn keep(&mut self) {
        (self.events)(Event::Kept(&self.slices[self.kept..]));
        self.kept = self.slices.len();
    }

    /// Runs one slice; nothing where the arm fails, which ends that arm alone.
    fn slice(
        &mut self,
        arm: usize,
        operations: u64,
        phase: Phase,
    ) -> Result<Option<&mut Slice>, Stop> {
        if self.runner.stopped() {
            return Err(Stop::Requested);
        }
        if self.runner.elapsed() > self.job.budget {
            return Err(Stop::Budget);
        }
        (self.events)(Event::Slice { arm, phase });
        match self.runner.slice(arm, operations) {
            Ok(slice) => {
                self.slices.push(Slice { arm, phase, ..slice });
                Ok(self.slices.last_mut())
            }
            Err(StudyError::Stopped) => Err(Stop::Requested),
            Err(StudyError::Enough(why)) => Err(Stop::Early(why)),
            Err(error) => {
                let why = error.to_string();
                (self.events)(Event::Failed { arm, why: &why });
                self.failures[arm] = Some(why);
                Ok(None)
            }
        }
    }
}

/// How many slices each arm of a job has at the most.
pub(crate) fn slices_max(job: &Job) -> u64 {
    let in_blocks = blocks_max(job).max(STRETCHES) * times_in_block(job.arms.len());
    CALIBRATION_SLICES_MAX + (WARMUP.most as u64) + in_blocks as u64
}

/// How often a block has each of so many arms at the most; `order.rs` says why.
fn times_in_block(arms: usize) -> usize {
    if (2..=BALANCED_MAX).contains(&arms) { arms } else { 1 }
}

#[cfg(test)]
mod tests;
