//! The parts of one place's test, each in its share of the time.

use std::time::Duration;

use model::arm::Arm;
use model::place::{PlaceFacts, StorageKind};
use model::plan::PlanError;
use model::run::{Floor, Machine};
use model::selftest::{PlaceSelftest, Planted, PlantedKind};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::aa_test::{self, AaTest, Ended, aa_job};
use super::against_itself::against_itself;
use super::planted::{ADDED, factors, planted, truth};
use super::resolution::resolution;
use super::scatter::{Scatter, scatter};
use super::settings::{Planting, Settings, Work};
use super::slowdown::{Slowdown, every};
use crate::error::StudyError;
use crate::folders::{Folders, Open};
use crate::job::Job;
use crate::study::Workload;

/// The part of a place's time that goes into learning how blocks scatter.
const SCATTER_SHARE: f64 = 0.15;
/// What that takes at the least, on a slow disk, unless that is more than a
/// third of the time.
const SCATTER_MIN: Duration = Duration::from_millis(1500);
/// The part in which slow-downs are planted; the rest is for the place against itself.
const PLANTED_SHARE: f64 = 0.50;

/// What the tests of all places share.
pub(super) struct PlaceTest<'a> {
    settings: &'a Settings<'a>,
    machine: &'a Machine,
    floor: Floor,
    random: ChaCha8Rng,
    progress: &'a mut dyn FnMut(&str),
}

/// What was found in a place, and whether its folders could be removed.
pub(super) struct Tested<E> {
    pub(super) found: PlaceSelftest,
    pub(super) removed: Result<(), E>,
}

impl<'a> PlaceTest<'a> {
    /// No place has been tested yet.
    pub(super) fn new(
        settings: &'a Settings<'a>,
        machine: &'a Machine,
        progress: &'a mut dyn FnMut(&str),
    ) -> Self {
        let floor = Floor { tick_ns: 1.0, ..Floor::default() };
        let random = ChaCha8Rng::seed_from_u64(settings.seed);
        Self { settings, machine, floor, random, progress }
    }

    /// What measuring itself costs, as seen last.
    pub(super) fn floor(&self) -> &Floor {
        &self.floor
    }

    /// Tests one place until the budget's clock shows `until`. What was found is there
    /// even where the folders could not be removed.
    pub(super) fn run<F: Folders>(
        &mut self,
        place: PlaceFacts,
        until: Duration,
        open: &mut Open<'_, F>,
    ) -> Result<Tested<F::Error>, F::Error>
    where
        F::Error: From<PlanError> + From<StudyError>,
    {
        let job = aa_job(&self.settings.work, &place)?;
        let plantings = self.settings.plantings.iter();
        let jobs = plantings.map(|planting| aa_job(&planting.work, &place));
        let jobs = jobs.collect::<Result<Vec<Job>, PlanError>>()?;
        let places =
            aa_test::LABELS.map(|label| PlaceFacts { label: label.to_owned(), ..place.clone() });
        let aa_test = AaTest { job: &job, places: &places, machine: self.machine };
        let mut tested = PlaceSelftest {
            place,
            workload: self.settings.work.name(),
            typical_ns: None,
            against_itself: None,
            resolution: None,
            planted: Vec::new(),
            failure: None,
        };
        let mut folders = open(&places)?;
        if let Some(Ended::Failed(why)) =
            self.parts(aa_test, &jobs, &mut folders, &mut tested, until)?
        {
            tested.failure = Some(why);
        }
        Ok(Tested { found: tested, removed: folders.close() })
    }

    /// The parts, into `tested`, until one ends early; `jobs` are those of the plantings.
    fn parts(
        &mut self,
        aa_test: AaTest<'_>,
        jobs: &[Job],
        folders: &mut impl Folders,
        tested: &mut PlaceSelftest,
        until: Duration,
    ) -> Result<Option<Ended>, StudyError> {
        let now = self.settings.elapsed;
        let share = until.saturating_sub(now());
        let scattered = share.mul_f64(SCATTER_SHARE).max(SCATTER_MIN.min(share / 3));
        let seen = self.scatter(aa_test, folders, &tested.place.label, now() + scattered)?;
        tested.typical_ns = seen.typical_ns;
        if seen.ended.is_some() {
            return Ok(seen.ended);
        }
        if seen.typical_ns.is_none() {
            let why =
                "the budget ended before the first block was complete: give a longer --budget";
            return Ok(Some(Ended::Failed(why.to_owned())));
        }
        let Scatter { log_ratios, block_time, .. } = &seen;
        tested.resolution =
            resolution(log_ratios, *block_time, aa_test.job.threshold, self.random.random());
        let until_planted = now() + share.mul_f64(PLANTED_SHARE);
        let ended = self.all_planted(aa_test, jobs, folders, tested, until_planted)?;
        if ended.is_some() {
            return Ok(ended);
        }
        self.against_itself(aa_test, folders, tested, (&seen, until))
    }

    fn scatter(
        &mut self,
        aa_test: AaTest<'_>,
        folders: &mut impl Folders,
        label: &str,
        until: Duration,
    ) -> Result<Scatter, StudyError> {
        let workloads = workloads(&self.settings.work, &aa_test.job.arms)?;
        let mut runner = folders.runner(&aa_test.job.arms, workloads);
        self.floor = runner.floor();
        let goal = (self.settings.elapsed, until);
        let seeds = || self.random.random();
        let mut progress = |state| (self.progress)(&format!("{label}: {state}"));
        Ok(scatter(aa_test, &mut *runner, &self.floor, goal, seeds, &mut progress))
    }

    /// Every kind of slow-down, each in an even share of the time that is left.
    fn all_planted(
        &mut self,
        aa_test: AaTest<'_>,
        jobs: &[Job],
        folders: &mut impl Folders,
        tested: &mut PlaceSelftest,
        until: Duration,
    ) -> Result<Option<Ended>, StudyError> {
        let plantings = self.settings.plantings.iter().zip(jobs);
        let possible =
            plantings.clone().filter(|(p, _)| impossible(p.kind, &tested.place).is_none());
        let mut sharers = possible.count() as u32;
        for (planting, job) in plantings {
            if let Some(why) = impossible(planting.kind, &tested.place) {
                let untested = Some(why.to_owned());
                tested.planted.push(Planted { untested, ..not_yet(planting) });
                continue;
            }
            let now = (self.settings.elapsed)();
            let until = now + until.saturating_sub(now) / sharers;
            sharers -= 1;
            let (aa_test, label) = (AaTest { job, ..aa_test }, &tested.place.label);
            let (planted, ended) = self.planted(aa_test, folders, label, (planting, until))?;
            tested.planted.push(planted);
            if ended == Some(Ended::Interrupted) {
                return Ok(ended);
            }
        }
        Ok(None)
    }

    fn planted(
        &mut self,
        aa_test: AaTest<'_>,
        folders: &mut impl Folders,
        label: &str,
        (planting, until): (&Planting, Duration),
    ) -> Result<(Planted, Option<Ended>), StudyError> {
        let Planting { kind, work } = planting;
        let arms = &aa_test.job.arms;
        let seed = self.random.random();
        let slowdown = workloads(work, arms)?.into_iter().zip(arms).map(|(workload, arm)| {
            let factors = if arm.place == 0 { every(1.0) } else { factors(*kind, seed) };
            Box::new(Slowdown::new(workload, factors)) as Box<dyn Workload>
        });
        let mut runner = folders.runner(arms, slowdown.collect());
        let seeds = || self.random.random();
        let mut progress = |state| (self.progress)(&format!("{label}: {state}"));
        let goal = (*kind, until);
        let (found, ended) =
            planted(aa_test, &mut *runner, &self.floor, goal, seeds, &mut progress);
        let why = match &ended {
            Some(Ended::Failed(why)) => Some(why.as_str()),
            None if found.is_none() => Some("there was no time for a comparison"),
            Some(Ended::Interrupted) | None => None,
        };
        let untested = why.map(str::to_owned);
        Ok((Planted { found, untested, ..not_yet(planting) }, ended))
    }

    fn against_itself(
        &mut self,
        aa_test: AaTest<'_>,
        folders: &mut impl Folders,
        tested: &mut PlaceSelftest,
        goal: (&Scatter, Duration),
    ) -> Result<Option<Ended>, StudyError> {
        let workloads = workloads(&self.settings.work, &aa_test.job.arms)?;
        let mut runner = folders.runner(&aa_test.job.arms, workloads);
        let seeds = || self.random.random();
        let label = &tested.place.label;
        let mut progress = |state| (self.progress)(&format!("{label}: {state}"));
        let (found, ended) =
            against_itself(aa_test, &mut *runner, &self.floor, goal, seeds, &mut progress);
        tested.against_itself = found;
        Ok(ended)
    }
}

/// Why a kind of I/O does not exist at a place, if so.
fn impossible(kind: PlantedKind, place: &PlaceFacts) -> Option<&'static str> {
    (kind == PlantedKind::ColdReading && place.kind == StorageKind::Memory)
        .then_some("the place is in memory, from which nothing can be evicted")
}

/// A kind of which nothing has been found.
fn not_yet(planting: &Planting) -> Planted {
    let Planting { kind, work } = planting;
    let truth = truth(*kind);
    Planted { kind: *kind, workload: work.name(), added: ADDED, truth, found: None, untested: None }
}

fn workloads(work: &Work<'_>, arms: &[Arm]) -> Result<Vec<Box<dyn Workload>>, StudyError> {
    arms.iter().map(|arm| work.study.workload(&arm.strategy.name, &arm.params)).collect()
}
