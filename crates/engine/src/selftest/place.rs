//! The parts of one place's test, each in its share of the time.

use std::time::Duration;

use host::clock::Clock;
use model::arm::Arm;
use model::place::PlaceFacts;
use model::plan::PlanError;
use model::run::{Floor, Machine};
use model::selftest::PlaceSelftest;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::against_itself::against_itself;
use super::planted::{self, planted};
use super::resolution::resolution;
use super::scatter::{Scatter, scatter};
use super::settings::Settings;
use super::slowed::{Slowed, busy_pause, no_pause};
use super::twins::{self, Ended, Tolls, Twins, twins_job};
use crate::error::StudyError;
use crate::folders::{Folders, Open};
use crate::study::Workload;

/// The part of a place's time that goes into learning how blocks scatter.
const SCATTER_SHARE: f64 = 0.15;
/// The part in which the planted slowdown must be found; what is left of it
/// is used for the place against itself.
const PLANTED_SHARE: f64 = 0.20;
/// What either takes at the least, on a slow disk, unless that is more than a
/// third of the time.
const PART_MIN: Duration = Duration::from_millis(1500);

/// What the tests of all places share.
pub(super) struct PlaceTest<'a> {
    settings: &'a Settings<'a>,
    machine: &'a Machine,
    clock: Clock,
    floor: Floor,
    random: ChaCha8Rng,
    progress: &'a mut dyn FnMut(&str),
}

impl<'a> PlaceTest<'a> {
    /// No place has been tested yet.
    pub(super) fn new(
        settings: &'a Settings<'a>,
        machine: &'a Machine,
        clock: Clock,
        progress: &'a mut dyn FnMut(&str),
    ) -> Self {
        let floor = Floor { tick_ns: 1.0, ..Floor::default() };
        let random = ChaCha8Rng::seed_from_u64(settings.seed);
        Self { settings, machine, clock, floor, random, progress }
    }

    /// What measuring itself costs, as seen last.
    pub(super) fn floor(&self) -> &Floor {
        &self.floor
    }

    /// Tests one place until the budget's clock shows `until`.
    pub(super) fn run<F: Folders>(
        &mut self,
        place: PlaceFacts,
        until: Duration,
        open: &mut Open<'_, F>,
    ) -> Result<PlaceSelftest, F::Error>
    where
        F::Error: From<PlanError> + From<StudyError>,
    {
        let Settings { study, strategy, .. } = *self.settings;
        let job = twins_job(study, strategy, &place)?;
        let places =
            twins::LABELS.map(|label| PlaceFacts { label: label.to_owned(), ..place.clone() });
        let twins = Twins { job: &job, places: &places, machine: self.machine };
        let mut tested = PlaceSelftest {
            place,
            workload: format!("{}/{strategy}", study.spec().name),
            toll_ns: None,
            against_itself: None,
            resolution: None,
            planted: None,
            failure: None,
        };
        let mut folders = open(&places)?;
        if let Some(Ended::Failed(why)) = self.parts(twins, &mut folders, &mut tested, until)? {
            tested.failure = Some(why);
        }
        folders.close()?;
        Ok(tested)
    }

    /// The parts, into `tested`, until one ends early.
    fn parts(
        &mut self,
        twins: Twins<'_>,
        folders: &mut impl Folders,
        tested: &mut PlaceSelftest,
        until: Duration,
    ) -> Result<Option<Ended>, StudyError> {
        let began = self.settings.began;
        let share = until.saturating_sub(began.elapsed());
        let from_now =
            |part: f64| began.elapsed() + share.mul_f64(part).max(PART_MIN.min(share / 3));

        let label = tested.place.label.clone();
        let seen = self.scatter(twins, folders, &label, from_now(SCATTER_SHARE))?;
        tested.toll_ns = seen.tolls.map(|tolls| tolls.median_ns);
        if seen.ended.is_some() {
            return Ok(seen.ended);
        }
        let Some(tolls) = seen.tolls else {
            let why =
                "the budget ended before the first block was complete: give a longer --budget";
            return Ok(Some(Ended::Failed(why.to_owned())));
        };
        let until_found = from_now(PLANTED_SHARE);
        let ended = self.planted(twins, folders, tested, (tolls, until_found))?;
        if ended.is_some() {
            return Ok(ended);
        }
        let Scatter { log_ratios, block_time, .. } = &seen;
        tested.resolution =
            resolution(log_ratios, *block_time, twins.job.worth, self.random.random());
        self.against_itself(twins, folders, tested, (&seen, until))
    }

    fn scatter(
        &mut self,
        twins: Twins<'_>,
        folders: &mut impl Folders,
        label: &str,
        until: Duration,
    ) -> Result<Scatter, StudyError> {
        let workloads = self.workloads(&twins.job.arms)?;
        let mut runner = folders.runner(&twins.job.arms, workloads);
        self.floor = runner.floor();
        let seeds = || self.random.random();
        let mut progress = |state| (self.progress)(&format!("{label}: {state}"));
        Ok(scatter(twins, &mut *runner, &self.floor, until, seeds, &mut progress))
    }

    fn planted(
        &mut self,
        twins: Twins<'_>,
        folders: &mut impl Folders,
        tested: &mut PlaceSelftest,
        (tolls, until): (Tolls, Duration),
    ) -> Result<Option<Ended>, StudyError> {
        let (workloads, added_ns) = self.one_slowed(&twins.job.arms, tolls.undisturbed_ns)?;
        let mut runner = folders.runner(&twins.job.arms, workloads);
        let (goal, seed) = ((added_ns, until), self.random.random());
        let label = &tested.place.label;
        let mut progress = |state| (self.progress)(&format!("{label}: {state}"));
        let (found, ended) = planted(twins, &mut *runner, &self.floor, goal, seed, &mut progress);
        tested.planted = found;
        Ok(ended)
    }

    fn against_itself(
        &mut self,
        twins: Twins<'_>,
        folders: &mut impl Folders,
        tested: &mut PlaceSelftest,
        goal: (&Scatter, Duration),
    ) -> Result<Option<Ended>, StudyError> {
        let workloads = self.workloads(&twins.job.arms)?;
        let mut runner = folders.runner(&twins.job.arms, workloads);
        let seeds = || self.random.random();
        let label = &tested.place.label;
        let mut progress = |state| (self.progress)(&format!("{label}: {state}"));
        let (found, ended) =
            against_itself(twins, &mut *runner, &self.floor, goal, seeds, &mut progress);
        tested.against_itself = found;
        Ok(ended)
    }

    fn workloads(&self, arms: &[Arm]) -> Result<Vec<Box<dyn Workload>>, StudyError> {
        let study = self.settings.study;
        arms.iter().map(|arm| study.workload(arm.strategy.name, &arm.params)).collect()
    }

    /// The twins' workloads, the second of them slowed down, and by how much an operation.
    fn one_slowed(
        &self,
        arms: &[Arm],
        toll_ns: f64,
    ) -> Result<(Vec<Box<dyn Workload>>, f64), StudyError> {
        let (pause, added_ns) = busy_pause(toll_ns * planted::ADDED, &self.clock);
        let pauses = [no_pause(), pause];
        let workloads = self.workloads(arms)?.into_iter().zip(arms);
        let slowed = workloads.map(|(workload, arm)| {
            let pause = pauses[arm.place].clone();
            Box::new(Slowed::new(workload, pause)) as Box<dyn Workload>
        });
        Ok((slowed.collect(), added_ns))
    }
}
