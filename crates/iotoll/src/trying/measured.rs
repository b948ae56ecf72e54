//! The variants of a command as arms of a run.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use analysis::analyse;
use engine::folders::Folders as _;
use engine::job::Job;
use engine::measure::Event;
use engine::run_limits::RunLimits;
use model::analysis::Analysis;
use model::arm::{Arm, Axis, Pair};
use model::run::Run;
use model::study::{Params, StrategyDescription, StudyDescription};
use trial::{Trial, Variant};

use super::budget::Plan;
use super::grounds::Grounds;
use super::recorded::RecordedRun;
use crate::commands::TryArgs;
use crate::measuring::{LocalEnvironment, Session, StopReason, session};
use crate::terminal::{Progress, Shown};

/// A verdict is wrong this often at the most.
const ERROR_RATE: f64 = 0.05;
const THRESHOLD: f64 = 0.05;

/// What was measured.
pub(crate) struct Measured {
    pub(crate) run: Run,
    pub(crate) analysis: Analysis,
}

pub(crate) fn measure(
    args: &TryArgs,
    trial: &Rc<Trial>,
    variants: &[Variant],
    recorded: &RecordedRun,
    grounds: &Grounds,
    stop: &StopReason,
    plan: &Plan,
) -> anyhow::Result<Measured> {
    let began = Instant::now();
    let job = job(args, variants, plan);
    let workloads = trial.workloads(variants, &recorded.found);
    let mut session = Session::open(&grounds.places, [], stop, began, job.run_limits)?;
    let facts = session.facts().to_vec();
    let mut runner = session.runner(&job.arms, workloads);
    let shown = if args.quiet { Shown::Line } else { Shown::Table };
    let mut progress = Progress::new(began, job.budget, shown);
    let mut environment = LocalEnvironment::new(facts, Vec::new(), stop.clone());
    // What would do was said with the plan.
    let mut happens = |event: Event<'_>| match event {
        Event::TooShort { .. } => {}
        _ => progress.show(&event, &job.arms),
    };
    let header = session::header();
    let run = engine::run::run(&job, header, &mut environment, &mut *runner, &mut happens);
    progress.finish();
    drop(runner);
    session.close()?;
    let analysis = analyse(&run);
    Ok(Measured { run, analysis })
}

fn job(args: &TryArgs, variants: &[Variant], plan: &Plan) -> Job {
    let study = description(variants);
    let arm = |(variant, strategy): (&Variant, &'static StrategyDescription)| {
        // Only all of its files are elsewhere.
        let place = usize::from(*variant == Variant::AllInRam);
        let id = strategy.name.clone();
        Arm { id, study, label: None, strategy, place, params: Params(Vec::new()) }
    };
    let arms: Vec<Arm> = variants.iter().zip(&study.strategies).map(arm).collect();
    let pair = |other: usize| {
        let axis = if arms[other].place == 0 { Axis::Strategy } else { Axis::Place };
        Pair { base: 0, other, axis }
    };
    let pairs = (1..arms.len()).map(pair).collect();
    Job {
        arms,
        materials: Vec::new(),
        pairs,
        threshold: args.threshold.unwrap_or(THRESHOLD),
        error_rate: ERROR_RATE,
        budget: plan.budget,
        rounds: args.rounds.rounds,
        seed: args.seed.unwrap_or_else(|| u64::from(rand::random::<u32>())),
        per_second: BTreeMap::default(),
        shares: Vec::new(),
        taken_for: BTreeMap::default(),
        run_limits: RunLimits::default(),
    }
}

/// A study whose strategies are the variants. It lives as long as the process does.
fn description(variants: &[Variant]) -> &'static StudyDescription {
    let strategy = |variant: &Variant| StrategyDescription::new(&name(variant), "", "");
    let strategies: Vec<_> = variants.iter().map(strategy).collect();
    let study = StudyDescription::new("try", "run a command of your own", "run");
    Box::leak(Box::new(study.with_strategies(&strategies)))
}

/// What progress calls a variant.
fn name(variant: &Variant) -> String {
    match variant {
        Variant::AsNow => "as it is".to_owned(),
        Variant::AllInRam => "files in ram".to_owned(),
        Variant::InRam(folder) => format!("{} in ram", folder.display()),
        Variant::SyncsFree => "syncs free".to_owned(),
        Variant::Cold => "cold files".to_owned(),
    }
}
