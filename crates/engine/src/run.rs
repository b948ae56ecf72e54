//! One run, from its plan to its record: what was measured, with all that a
//! reader needs to understand it.

use model::arm::Arm;
use model::article::Article;
use model::between_runs::BetweenRuns;
use model::check::CheckRequest;
use model::client::Client;
use model::description::StudyDescription;
use model::place::PlaceFacts;
use model::run::{ArmFailure, Invocation, LeftOut, Machine, PlaceAfter, PlanRecord, Run, Watch};

use crate::job::{Job, recorded};
use crate::measure::{Event, Measurement, measure};
use crate::runner::SliceRunner;

/// What a run is called.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// A random name, unique to the run.
    pub id: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The version of iotoll.
    pub version: String,
    /// The published measurement that the run repeats, if any.
    pub article: Option<Article>,
    /// What the run checks, if it is a check of storage.
    pub checks: Option<CheckRequest>,
}

/// The machine and the places of a run. They are read before its first slice and after its last.
/// The methods with a default find nothing.
pub trait Environment {
    /// The machine.
    fn machine(&self) -> Machine;

    /// The places before the run; the first is the base.
    fn places(&self) -> Vec<PlaceFacts>;

    /// The machines of all clients, where there are several.
    fn clients(&self) -> Vec<Client> {
        Vec::new()
    }

    /// Places that were asked for and could not be made.
    fn left_out(&self) -> Vec<LeftOut> {
        Vec::new()
    }

    /// How much saved runs of the same comparisons differed, in the order of the pairs of a run
    /// that begins; none where no saved runs tell.
    fn between_runs(&self, _run: &Run) -> Vec<BetweenRuns> {
        Vec::new()
    }

    /// The places after the run, in the same order; none where nobody looks.
    fn places_after(&mut self) -> Vec<PlaceAfter> {
        Vec::new()
    }

    /// Why the run was stopped from here, if it was: what must stay free did not.
    fn cut_short(&self) -> Option<String> {
        None
    }

    /// The machine before and after the run, as far as it shows what disturbed it.
    fn watch(&mut self) -> Watch {
        Watch::default()
    }
}

/// Measures a job and keeps everything that was measured.
pub fn run(
    job: &Job,
    header: Header,
    environment: &mut dyn Environment,
    runner: &mut dyn SliceRunner,
    events: &mut dyn FnMut(Event<'_>),
) -> Run {
    let mut run = begun(job, header, environment, runner);
    events(Event::Begun(&run));
    let Measurement { slices, failures, interrupted, ended_early } =
        measure(job, &run.between_runs, runner, events);
    runner.end();
    let ended_early = ended_early.or_else(|| environment.cut_short());
    run.run.seconds = runner.elapsed().as_secs_f64();
    run.run.interrupted = interrupted && ended_early.is_none();
    run.run.ended_early = ended_early;
    run.run.writes = runner.writes();
    run.floor.clock_off_by = runner.clock_off_by();
    run.places_after = environment.places_after();
    run.watch = environment.watch();
    let failures = failures.into_iter().enumerate();
    run.failures = failures.filter_map(|(arm, why)| Some(ArmFailure { arm, why: why? })).collect();
    run.unread = runner.unread();
    run.slices = slices;
    run
}

/// The record as it is before the first slice.
fn begun(
    job: &Job,
    header: Header,
    environment: &dyn Environment,
    runner: &mut dyn SliceRunner,
) -> Run {
    let floor = runner.floor();
    let run = Run {
        run: Invocation {
            id: header.id,
            started: header.started,
            seconds: runner.elapsed().as_secs_f64(),
            seed: job.seed,
            version: header.version,
            writes: runner.writes(),
            left_out: environment.left_out(),
            ..Invocation::default()
        },
        machine: environment.machine(),
        clients: environment.clients(),
        floor,
        plan: plan_record(job),
        between_runs: Vec::new(),
        article: header.article,
        checks: header.checks,
        studies: descriptions(job),
        places: environment.places(),
        places_after: Vec::new(),
        watch: Watch::default(),
        failures: Vec::new(),
        unread: runner.unread(),
        slices: Vec::new(),
    };
    Run { between_runs: environment.between_runs(&run), ..run }
}

fn plan_record(job: &Job) -> PlanRecord {
    let arm =
        |(index, arm): (usize, &Arm)| recorded(arm, job.materials.get(index).cloned().flatten());
    PlanRecord {
        threshold: job.threshold,
        error_rate: job.error_rate,
        budget_s: job.budget.as_secs_f64(),
        rounds: job.rounds,
        arms: job.arms.iter().enumerate().map(arm).collect(),
        pairs: job.pairs.clone(),
        gentle: job.run_limits.gentle,
        per_second: job.per_second.clone(),
        taken_for: job.taken_for.clone(),
    }
}

/// Each study of the job, once, in the order of its arms.
fn descriptions(job: &Job) -> Vec<StudyDescription> {
    let mut studies: Vec<StudyDescription> = Vec::new();
    for arm in &job.arms {
        if studies.iter().all(|study| study.name != arm.study.name) {
            studies.push(arm.study.recorded());
        }
    }
    studies
}
