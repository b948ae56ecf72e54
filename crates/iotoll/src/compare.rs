//! `iotoll compare`: the main job, from flags to report.

use std::time::Instant;

use anyhow::anyhow;
use engine::conclude;
use engine::measure::{Job, Measurement, measure};
use engine::next;
use model::arm::{Arm, Pair, pairs};
use model::noise::Noise;
use model::place::PlaceFacts;
use model::plan::Plan;
use model::result::{Run, RunResult, SCHEMA, Verdict};

use crate::cli::CompareArgs;
use crate::exit::Exit;
use crate::machine::{self, Watch};
use crate::output::{self, JsonTarget};
use crate::progress::Progress;
use crate::session::Session;
use crate::{dry_run, plan, preflight, signals};

pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let plan = plan::from_args(args)?;
    let arms = plan.arms();
    let pairs = pairs(&arms);
    let places = preflight::inspect(&plan, args)?;
    preflight::check_space(&places, &arms)?;
    if args.dry_run {
        output::result(&dry_run::describe(&plan, &arms, &pairs, &places, output::width()))?;
        return Ok(Exit::Done);
    }
    let json = args.json.as_deref().map(JsonTarget::open).transpose()?;
    let started = jiff::Timestamp::now();
    let noise = Watch::start();
    let measurement = measure_on_places(&plan, &arms, &pairs, &places, began)?;
    let noise = noise.finish();
    let result = conclude(&plan, &arms, &pairs, places, &measurement, noise, (started, began));
    if !matches!(json, Some(JsonTarget::Stdout)) {
        let text = report::terminal::report(&result, &studies::specs(), output::width());
        output::result(&text)?;
    }
    if let Some(json) = json {
        json.write(&result)?;
    }
    exit_code(args, &result)
}

/// Measures, in working folders that are gone afterwards.
fn measure_on_places(
    plan: &Plan,
    arms: &[Arm],
    pairs: &[Pair],
    places: &[PlaceFacts],
    began: Instant,
) -> anyhow::Result<Measurement> {
    let mut session = Session::open(places, signals::stop_flag()?, began)?;
    let mut rig = session.rig(arms, preflight::study_of)?;
    let job = Job { arms, pairs, worth: plan.worth, budget: plan.budget, seed: plan.seed };
    let mut progress = Progress::new(began, plan.budget);
    let measurement = measure(&job, &mut rig, &mut |event| progress.show(&event, arms));
    progress.finish();
    drop(rig);
    session.close()?;
    let place_changes = places.iter().map(preflight::change_since).collect();
    Ok(Measurement { place_changes, ..measurement })
}

fn conclude(
    plan: &Plan,
    arms: &[Arm],
    pairs: &[Pair],
    places: Vec<PlaceFacts>,
    measurement: &Measurement,
    noise: Noise,
    (started, began): (jiff::Timestamp, Instant),
) -> RunResult {
    let labels: Vec<String> = places.iter().map(|place| place.label.clone()).collect();
    let job = Job { arms, pairs, worth: plan.worth, budget: plan.budget, seed: plan.seed };
    let arms = conclude::arm_results(arms, &labels, measurement);
    let mut comparisons = conclude::comparisons(&job, measurement, &arms);
    next::suggest(&mut comparisons, &job, &places);
    RunResult {
        schema: SCHEMA.to_owned(),
        run: Run {
            id: format!("{:016x}", rand::random::<u64>()),
            started: format!("{started:.0}"),
            seconds: began.elapsed().as_secs_f64(),
            seed: plan.seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            interrupted: measurement.interrupted,
        },
        machine: machine::describe(noise),
        floor: measurement.floor.clone(),
        places,
        arms,
        comparisons,
        unread: measurement.unread.clone(),
        samples: measurement.samples.clone(),
    }
}

fn exit_code(args: &CompareArgs, result: &RunResult) -> anyhow::Result<Exit> {
    if result.run.interrupted {
        return Ok(Exit::Interrupted);
    }
    if result.arms.iter().all(|arm| arm.failure.is_some()) {
        let why = result.arms.iter().find_map(|arm| arm.failure.clone()).unwrap_or_default();
        return Err(anyhow!("nothing could be measured: {why}"));
    }
    if result.arms.iter().any(|arm| arm.integrity.as_ref().is_some_and(|i| !i.is_intact())) {
        output::note("broken data was found: see the records in the report");
        return Ok(Exit::BrokenData);
    }
    let without = |v| matches!(v, Verdict::Unclear | Verdict::Invalid);
    if args.require_verdict && result.comparisons.iter().any(|c| without(c.verdict)) {
        output::note("a verdict was required, and not every comparison has one");
        return Ok(Exit::NoVerdict);
    }
    Ok(Exit::Done)
}
