//! Two arms that do the same at the same place, and what is taken from their runs.

use std::time::Duration;

use model::place::{PlaceFacts, PlaceRequest};
use model::plan::{DEFAULT_THRESHOLD, Draft, PlanError, StudyPlan};
use model::run::{Machine, Run};
use model::slice::Slice;

use super::rerun::Rerun;
use super::settings::Work;
use crate::job::Job;
use crate::measure::Event;
use crate::run::{Environment, Header, run};

/// The folders in which a place is compared with itself.
pub(super) const LABELS: [&str; 2] = ["a", "b"];

/// A place compared with itself, by what both arms do there.
///
/// # Errors
/// Where the work and the place make no valid plan.
pub fn aa_job(work: &Work<'_>, place: &PlaceFacts) -> Result<Job, PlanError> {
    let request = |label: &str| PlaceRequest::directory(label, &place.path);
    let spec = work.study.spec();
    let mut study = StudyPlan::new(spec);
    study.strategies.extend(spec.strategy(work.strategy));
    let mut draft = Draft {
        threshold: Some(DEFAULT_THRESHOLD),
        places: LABELS.map(request).into(),
        studies: vec![study],
        ..Draft::default()
    };
    for param in work.params {
        draft.set_all(&[format!("{}.{param}", spec.name)], &[spec])?;
    }
    // Every run that is made of the job has a seed of its own.
    Ok(Job::of(&draft.finish(0)?))
}

/// Two arms that do the same at the same place.
#[derive(Clone, Copy)]
pub(super) struct AaTest<'a> {
    /// The two, and the one comparison that they make.
    pub(super) job: &'a Job,
    /// The place's two folders.
    pub(super) places: &'a [PlaceFacts],
    /// The machine.
    pub(super) machine: &'a Machine,
}

/// How one of many runs is run.
pub(super) struct Rules {
    /// The smallest relative difference that matters.
    pub(super) threshold: f64,
    /// How long it may take.
    pub(super) budget: Duration,
    /// What its order is made from.
    pub(super) seed: u64,
}

impl AaTest<'_> {
    /// Compares the two once, as a user's run would.
    pub(super) fn compare(
        &self,
        rules: &Rules,
        mut runner: Rerun,
        events: &mut dyn FnMut(Event),
    ) -> Run {
        let Rules { threshold, budget, seed } = *rules;
        let job = Job { threshold, budget, seed, ..self.job.clone() };
        let mut environment = *self;
        run(&job, Header::default(), &mut environment, &mut runner, events)
    }
}

/// Only the selftest as a whole looks for changes.
impl Environment for AaTest<'_> {
    fn machine(&self) -> Machine {
        self.machine.clone()
    }

    fn places(&self) -> Vec<PlaceFacts> {
        self.places.to_vec()
    }
}

/// Why a part of the selftest ended before it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It was interrupted.
    Interrupted,
    /// An arm could not go on, with the reason.
    Failed(String),
}

/// How a run ended, if not in order.
pub(super) fn ended(run: &Run) -> Option<Ended> {
    let failure = run.failures.first().map(|failure| &failure.why);
    match failure.or(run.run.ended_early.as_ref()) {
        Some(why) => Some(Ended::Failed(why.clone())),
        None => run.run.interrupted.then_some(Ended::Interrupted),
    }
}

/// The blocks' log ratios, in order; a block without one is left out.
pub(super) fn log_ratios(run: &Run) -> Vec<f64> {
    let Some(pair) = run.plan.pairs.first() else { return Vec::new() };
    let of = |block: &[Slice], arm| block.iter().find(|s| s.arm == arm).map(Slice::time_per_op_ns);
    run.blocks()
        .filter_map(|block| Some((of(block, pair.other)? / of(block, pair.base)?).ln()))
        .filter(|ratio| ratio.is_finite())
        .collect()
}

/// What an operation takes, as a median over one arm's slices, which a stall does not
/// move; `None` of no slices.
pub(super) fn typical_ns<'a>(slices: impl Iterator<Item = &'a Slice>) -> Option<f64> {
    median(slices.map(Slice::time_per_op_ns).collect())
}

/// `None` of no values.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| stats::median(&mut values))
}
