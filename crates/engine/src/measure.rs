//! The main loop: calibrate, warm up, then ten stretches of rounds, or fewer where
//! everything is sure and precise before.

use std::ops::Range;
use std::time::Duration;

use analysis::PairStates;
use model::arm::Pair;
use model::between_runs::BetweenRuns;
use model::run::Run;
use model::slice::{Phase, Slice};
pub use stats::{STRETCHES, STRETCHES_MIN};
use stats::{Settings, Warmup};

use crate::error::StudyError;
use crate::job::Job;
use crate::order::{BALANCED_MAX, Orders};
use crate::run_limits::GENTLE_SLICE_MAX;
use crate::runner::SliceRunner;
use crate::schedule::{Schedule, StretchEnd, blocks_max};

/// A slice should last this long where the budget allows: long enough that
/// starting and ending it do not matter, short enough for many rounds.
const SLICE_MAX: Duration = Duration::from_millis(5);
/// Below this, starting and ending a slice begin to show.
const SLICE_MIN: Duration = Duration::from_millis(4);
/// The rounds that the budget should have room for: five a stretch, of which the lowest and
/// the highest are left out.
const BLOCKS_WANTED: u32 = 50;
/// The rounds of a run whose arms have shares of the budget: one for each stretch.
const ROUNDS_OF_SHARES: u32 = STRETCHES as u32;
/// The share of the budget that goes into the slices themselves; the rest goes
/// into making files, settling and removing them.
const SLICE_SHARE: f64 = 0.5;
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
    /// The budget has room for fewer stretches than a verdict takes.
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

/// Compared arms get slices of the same size where a slice of one has less
/// than this many times the operations of the other's.
const ALIKE: f64 = 2.0;

/// Measures a job, whose pairs differ from run to run as saved runs showed.
pub(crate) fn measure(
    job: &Job,
    between_runs: &[BetweenRuns],
    runner: &mut dyn SliceRunner,
    events: &mut dyn FnMut(Event<'_>),
) -> Measurement {
    let mut session = Session::new(job, between_runs, runner, events);
    let outcome =
        session.calibrate().and_then(|()| session.warm_up()).and_then(|()| session.stretches());
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
        }
    }

    /// Finds for each arm how many operations fill a slice, in the folders that the first
    /// stretch goes on with.
    fn calibrate(&mut self) -> Result<(), Stop> {
        self.runner.begin_stretch();
        for arm in 0..self.job.arms.len() {
            let target_ns = self.target_ns(arm);
            let limits = self.runner.operations(arm);
            let mut operations = limits.fit(1.0);
            // What is set up once, such as an interpreter, is in the first slice
            // alone, which does not show how many operations fill another.
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
                // What a slice costs however short it is makes a short one look full.
                let settled = next <= operations.saturating_mul(2);
                operations = next;
                if settled {
                    break;
                }
            }
            self.operations[arm] = operations;
            let again = second.unwrap_or(set_up).saturating_sub(set_up);
            self.setup_time += set_up.saturating_sub(began).saturating_sub(again);
        }
        self.keep();
        Ok(())
    }

    /// Runs whole blocks that do not count, until the arms stop getting faster.
    fn warm_up(&mut self) -> Result<(), Stop> {
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

    /// Runs stretches until all is sure and precise or the budget is spent.
    fn stretches(&mut self) -> Result<(), Stop> {
        let began = self.runner.elapsed();
        let room = self.job.budget.saturating_sub(began);
        self.say_if_too_short(began, room);
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
            if self.job.blocks.is_some_and(|most| blocks >= most) {
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

    /// Reports that the budget has no room for a verdict.
    fn say_if_too_short(&mut self, began: Duration, room: Duration) {
        let longest = self.setup_time + self.block_time.mul_f64(LONGER);
        let enough = longest * STRETCHES_MIN as u32;
        if enough > room && !self.job.pairs.is_empty() {
            let stretches = (room.as_secs_f64() / longest.as_secs_f64()) as usize;
            (self.events)(Event::TooShort { stretches, enough: began + enough.mul_f64(LONGER) });
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
                Ok(Some(slice)) => slice.position = position,
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

fn slice_target(job: &Job) -> Duration {
    let arms = job.arms.len().max(1);
    let slices = BLOCKS_WANTED * (arms * times_in_block(arms)) as u32;
    let longest = if job.run_limits.gentle { GENTLE_SLICE_MAX } else { SLICE_MAX };
    (job.budget.mul_f64(SLICE_SHARE) / slices).clamp(SLICE_MIN, longest)
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
