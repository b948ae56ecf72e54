//! The main loop: calibrate, warm up, then blocks until everything is decided
//! or the budget is spent.

use std::time::Duration;

use model::arm::{Arm, Pair};
use model::result::Floor;
use model::sample::Sample;
use stats::{Histogram, Warmup};

use crate::order::Orders;
use crate::rig::Rig;
use crate::standing::Standings;
use crate::study::StudyError;

/// A slice should last this long where the budget allows: long enough that
/// starting and ending it do not matter, short enough for many blocks.
const SLICE_MAX: Duration = Duration::from_millis(20);
/// Below this, starting and ending a slice begin to show.
const SLICE_MIN: Duration = Duration::from_millis(4);
/// The blocks that the budget should have room for.
const BLOCKS_WANTED: u32 = 40;
/// The share of the budget that goes into the slices themselves; the rest goes
/// into making files, settling and removing them.
const SLICE_SHARE: f64 = 0.5;
/// Even when all is decided earlier, the tolls shown rest on this many blocks.
const BLOCKS_MIN: usize = 10;
/// Where nothing is compared, this many blocks describe an arm well enough.
const BLOCKS_ALONE: usize = 20;
/// What is still open after so many blocks is too close to call.
pub(crate) const BLOCKS_MAX: usize = 2000;
/// Warming up is over once no arm is more than 10% faster than in the block
/// before, or after three blocks.
const WARMUP: Warmup = Warmup { gain: 0.10, most: 3 };

/// What is to be measured.
pub struct Job<'a> {
    /// The arms.
    pub arms: &'a [Arm],
    /// Which of them are compared.
    pub pairs: &'a [Pair],
    /// The smallest relative difference that matters.
    pub worth: f64,
    /// When to end at the latest, counted by the rig's clock.
    pub budget: Duration,
    /// What the random order is made from.
    pub seed: u64,
}

/// What was measured.
pub struct Measurement {
    /// What measuring itself costs.
    pub floor: Floor,
    /// All slices after warming up, block by block.
    pub samples: Vec<Sample>,
    /// Each arm's latencies over those slices.
    pub latencies: Vec<Histogram>,
    /// How long one unit of the latencies is, in nanoseconds.
    pub tick_ns: f64,
    /// Why an arm could not go on, if so.
    pub failures: Vec<Option<String>>,
    /// What could not be read, each with what is not known for it.
    pub unread: Vec<String>,
    /// How a place has changed under way, for those that have; whoever inspects
    /// the places before and after fills this in. Empty where nobody did.
    pub place_changes: Vec<Option<String>>,
    /// Whether the run was told to end early.
    pub interrupted: bool,
}

/// What happens while measuring, for whoever shows progress.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An arm's slices got their size.
    Calibrated {
        /// The arm.
        arm: usize,
        /// Operations per slice.
        operations: u64,
    },
    /// A slice is about to run.
    Slice {
        /// The arm.
        arm: usize,
        /// The block; `None` while warming up.
        block: Option<usize>,
    },
    /// A block is complete.
    Block {
        /// How many there are now.
        blocks: usize,
        /// Comparisons decided.
        decided: usize,
        /// Comparisons in all.
        comparisons: usize,
    },
    /// An arm cannot go on.
    Failed {
        /// The arm.
        arm: usize,
        /// Why.
        why: String,
    },
}

/// Compared arms get slices of the same size where a slice of one has less
/// than this many times the operations of the other's.
const ALIKE: f64 = 2.0;

/// Measures a job on a rig.
pub fn measure(job: &Job<'_>, rig: &mut dyn Rig, events: &mut dyn FnMut(Event)) -> Measurement {
    let floor = rig.floor();
    let mut session = Session::new(job, rig, events);
    let outcome =
        session.calibrate().and_then(|()| session.warm_up()).and_then(|()| session.blocks());
    let interrupted = matches!(outcome, Err(Stop::Told));
    let floor = Floor { clock_off_by: session.rig.clock_off_by(), ..floor };
    Measurement {
        floor,
        unread: session.rig.unread(),
        place_changes: Vec::new(),
        tick_ns: session.rig.tick_ns(),
        samples: session.samples,
        latencies: session.latencies,
        failures: session.failures,
        interrupted,
    }
}

/// Why measuring ends before its natural end.
enum Stop {
    /// Someone wants it to.
    Told,
    /// The budget is spent.
    Budget,
}

struct Session<'a> {
    job: &'a Job<'a>,
    rig: &'a mut dyn Rig,
    events: &'a mut dyn FnMut(Event),
    orders: Orders,
    operations: Vec<u64>,
    failures: Vec<Option<String>>,
    samples: Vec<Sample>,
    latencies: Vec<Histogram>,
    scratch: Histogram,
    standings: Standings,
    /// How long a block takes, going by the latest ones.
    block_time: Duration,
}

impl<'a> Session<'a> {
    fn new(job: &'a Job<'a>, rig: &'a mut dyn Rig, events: &'a mut dyn FnMut(Event)) -> Self {
        let arms = job.arms.len();
        Self {
            job,
            rig,
            events,
            orders: Orders::new(job.seed),
            operations: vec![1; arms],
            failures: vec![None; arms],
            samples: Vec::new(),
            latencies: vec![Histogram::new(); arms],
            scratch: Histogram::new(),
            standings: Standings::new(job.pairs, job.worth),
            block_time: Duration::ZERO,
        }
    }

    /// Finds for each arm how many operations fill a slice.
    fn calibrate(&mut self) -> Result<(), Stop> {
        let target = slice_target(self.job.budget, self.job.arms.len());
        for arm in 0..self.job.arms.len() {
            let limits = self.rig.operations(arm);
            let mut operations = limits.fit(1.0);
            // What is set up once, such as an interpreter, is in the first slice
            // alone, which tells nothing of how many operations fill another.
            let has_choice = limits.fit(f64::MAX) > operations;
            if !has_choice {
                self.operations[arm] = operations;
                continue;
            }
            if self.slice(arm, operations, None)?.is_none() {
                continue;
            }
            while let Some(sample) = self.slice(arm, operations, None)? {
                let elapsed_ns = sample.elapsed_ns.max(1) as f64;
                let full = limits.fit(operations as f64 * target.as_nanos() as f64 / elapsed_ns);
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
        }
        Ok(())
    }

    /// Runs whole blocks that do not count, until the arms stop getting faster.
    fn warm_up(&mut self) -> Result<(), Stop> {
        let mut times_ns = vec![Vec::new(); self.job.arms.len()];
        loop {
            for sample in self.block(None)? {
                times_ns[sample.arm].push(sample.toll_ns());
            }
            let warm = |(arm, times): (usize, &Vec<f64>)| {
                !self.rig.warms_up(arm) || self.failures[arm].is_some() || WARMUP.is_over(times)
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
        let target_ns = slice_target(self.job.budget, self.job.arms.len()).as_nanos() as f64;
        for (arm, times_ns) in times_ns.iter().enumerate() {
            let fastest_ns = times_ns.iter().copied().fold(f64::INFINITY, f64::min);
            if fastest_ns.is_finite() && fastest_ns > 0.0 {
                let fitting = self.rig.operations(arm).fit(target_ns / fastest_ns);
                self.operations[arm] = fitting;
            }
        }
        // What is alike may be so through a third, so again until nothing changes;
        // sizes only shrink, which ends it.
        while self.job.pairs.iter().any(|pair| self.level(*pair)) {}
        for (arm, &operations) in self.operations.iter().enumerate() {
            (self.events)(Event::Calibrated { arm, operations });
        }
    }

    /// Gives both arms the smaller size if they are alike; whether that changed one.
    fn level(&mut self, pair: Pair) -> bool {
        let [base, other] = [pair.base, pair.other].map(|arm| self.operations[arm]);
        let (smaller, larger) = (base.min(other), base.max(other));
        if smaller == larger || larger as f64 >= ALIKE * smaller as f64 {
            return false;
        }
        let arm = if base > other { pair.base } else { pair.other };
        let limits = self.rig.operations(arm);
        // One that cannot have that size keeps its own.
        let fits = limits.fit(smaller as f64) == smaller;
        if fits {
            self.operations[arm] = smaller;
        }
        fits
    }

    /// Runs blocks until all is decided or the budget is spent.
    fn blocks(&mut self) -> Result<(), Stop> {
        let mut blocks = 0;
        while blocks < BLOCKS_MAX && self.wants_more(blocks) {
            let block = self.block(Some(blocks))?;
            self.standings.take_block(&block);
            self.samples.extend(block);
            blocks += 1;
            (self.events)(Event::Block {
                blocks,
                decided: self.standings.decided(),
                comparisons: self.job.pairs.len(),
            });
        }
        Ok(())
    }

    fn wants_more(&self, blocks: usize) -> bool {
        let any_left = self.failures.iter().any(Option::is_none);
        let least = if self.job.pairs.is_empty() { BLOCKS_ALONE } else { BLOCKS_MIN };
        any_left && (blocks < least || (0..self.job.arms.len()).any(|arm| self.open(arm)))
    }

    /// Whether an arm is part of a comparison that is open and can be decided.
    fn open(&self, arm: usize) -> bool {
        self.standings.open_pairs().any(|pair| {
            (pair.base == arm || pair.other == arm)
                && self.failures[pair.base].is_none()
                && self.failures[pair.other].is_none()
        })
    }

    /// Runs every arm that is still needed once, in random order.
    fn block(&mut self, number: Option<usize>) -> Result<Vec<Sample>, Stop> {
        let began = self.rig.elapsed();
        // A block that would end beyond the budget is not begun.
        if began + self.block_time.mul_f64(1.1) > self.job.budget {
            return Err(Stop::Budget);
        }
        let is_needed = |arm| match number {
            None => self.rig.warms_up(arm),
            Some(n) => n < BLOCKS_MIN || self.job.pairs.is_empty() || self.open(arm),
        };
        let needed: Vec<bool> = (0..self.job.arms.len()).map(is_needed).collect();
        let mut block = Vec::new();
        let mut latencies = Vec::new();
        for arm in self.orders.next(needed.len(), |arm| needed[arm]) {
            if self.failures[arm].is_some() {
                continue;
            }
            if let Some(sample) = self.slice(arm, self.operations[arm], number)? {
                block.push(Sample { position: block.len(), ..sample });
                latencies.push(self.scratch.clone());
            }
        }
        if number.is_some() {
            for (sample, seen) in block.iter().zip(&latencies) {
                self.latencies[sample.arm].merge(seen);
            }
        }
        let took = self.rig.elapsed().saturating_sub(began);
        // One slow block is remembered for a while, but not for ever.
        self.block_time = took.max(self.block_time.mul_f64(0.7));
        Ok(block)
    }

    /// Runs one slice; nothing where the arm fails, which ends that arm alone.
    fn slice(
        &mut self,
        arm: usize,
        operations: u64,
        block: Option<usize>,
    ) -> Result<Option<Sample>, Stop> {
        if self.rig.stopped() {
            return Err(Stop::Told);
        }
        if self.rig.elapsed() > self.job.budget {
            return Err(Stop::Budget);
        }
        (self.events)(Event::Slice { arm, block });
        match self.rig.slice(arm, operations, &mut self.scratch) {
            Ok(sample) => Ok(Some(Sample { arm, block: block.unwrap_or(0), ..sample })),
            Err(StudyError::Stopped) => Err(Stop::Told),
            Err(error) => {
                let why = error.to_string();
                self.failures[arm] = Some(why.clone());
                (self.events)(Event::Failed { arm, why });
                Ok(None)
            }
        }
    }
}

fn slice_target(budget: Duration, arms: usize) -> Duration {
    let slices = BLOCKS_WANTED * arms.max(1) as u32;
    (budget.mul_f64(SLICE_SHARE) / slices).clamp(SLICE_MIN, SLICE_MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicBool, Ordering};

    use model::arm::Axis;
    use model::place::PlaceRequest;
    use model::plan::{Draft, StudyPlan};
    use model::study::{StrategySpec, StudySpec};

    use super::*;
    use crate::study::Operations;

    static SPEC: StudySpec = StudySpec {
        name: "made",
        about: "",
        operation: "step",
        moves_bytes: false,
        by_default: true,
        compared: &[],
        strategies: &[StrategySpec { name: "plain", about: "", promise: "", by_default: true }],
        figures: &[],
        params: &[],
    };

    /// Arms with tolls of their own; the first slice of the second is disturbed.
    struct Made {
        tolls_ns: Vec<u64>,
        passed_ns: u64,
        disturbed: AtomicBool,
    }

    impl Rig for Made {
        fn elapsed(&self) -> Duration {
            Duration::from_nanos(self.passed_ns)
        }

        fn stopped(&self) -> bool {
            false
        }

        fn floor(&mut self) -> Floor {
            Floor { record_ns: 0.0, clock: String::new(), clock_off_by: None }
        }

        fn tick_ns(&self) -> f64 {
            1.0
        }

        fn operations(&self, _: usize) -> Operations {
            Operations { granule: 1, max: 1_000_000 }
        }

        fn slice(
            &mut self,
            arm: usize,
            operations: u64,
            _: &mut Histogram,
        ) -> Result<Sample, StudyError> {
            let mut elapsed_ns = operations * self.tolls_ns[arm];
            let full = elapsed_ns > 1_000_000;
            if arm == 1 && full && !self.disturbed.swap(true, Ordering::Relaxed) {
                elapsed_ns *= 3;
            }
            self.passed_ns += elapsed_ns;
            Ok(Sample { operations, elapsed_ns, ..Sample::default() })
        }
    }

    fn sizes(tolls_ns: &[u64]) -> BTreeMap<usize, u64> {
        let request = |n| PlaceRequest { label: format!("p{n}"), path: "/".into() };
        let draft = Draft {
            places: (0..tolls_ns.len()).map(request).collect(),
            studies: vec![StudyPlan::new(&SPEC)],
            ..Draft::default()
        };
        let plan = draft.finish(1).unwrap_or_else(|e| panic!("{e}"));
        let arms = plan.arms();
        let pairs: Vec<Pair> = (1..arms.len())
            .map(|other| Pair { base: other - 1, other, axis: Axis::Place })
            .collect();
        let budget = Duration::from_secs(2);
        let job = Job { arms: &arms, pairs: &pairs, worth: 0.05, budget, seed: 1 };
        let disturbed = AtomicBool::new(false);
        let mut rig = Made { tolls_ns: tolls_ns.to_vec(), passed_ns: 0, disturbed };
        let measurement = measure(&job, &mut rig, &mut |_| ());
        measurement.samples.iter().map(|s| (s.arm, s.operations)).collect()
    }

    #[test]
    fn arms_that_take_equally_long_get_slices_of_one_size_though_one_was_disturbed() {
        let sizes = sizes(&[300, 310]);
        assert_eq!(sizes[&0], sizes[&1]);
        // The size fits what an operation takes undisturbed.
        assert!((10_000..=50_000).contains(&sizes[&0]), "{sizes:?}");
    }

    #[test]
    fn alike_is_passed_on_and_arms_that_differ_keep_their_own() {
        let sizes = sizes(&[300, 500, 800, 9000]);
        assert!(sizes[&0] == sizes[&1] && sizes[&1] == sizes[&2], "{sizes:?}");
        assert!(sizes[&3] * 5 < sizes[&2], "{sizes:?}");
    }
}
