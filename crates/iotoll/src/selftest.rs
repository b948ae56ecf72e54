//! `iotoll selftest`: whether verdicts from this machine can be trusted, and
//! how small a difference it can show.

use std::time::Instant;

use anyhow::{anyhow, bail};
use engine::run::Header;
use engine::selftest::run::selftest;
use engine::selftest::settings::Settings;
use engine::selftest::twins::twins_job;
use engine::study::Study;
use model::place::PlaceFacts;
use model::plan::DEFAULT_BUDGET;
use model::selftest::SelftestResult;
use process::StopFlag;

use crate::cli::SelftestArgs;
use crate::environment::LocalEnvironment;
use crate::exit::{Exit, UsageError};
use crate::output::{self, JsonTarget};
use crate::plan::default_places;
use crate::preflight;
use crate::progress::Progress;
use crate::session::{self, Session};
use crate::signals;

/// What is timed: the study whose operations are the shortest, for there the
/// harness and the machine show most.
const STUDY: &str = "log";
const STRATEGY: &str = "held";

pub(crate) fn run(args: &SelftestArgs) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let study = studies::find(STUDY).ok_or_else(|| anyhow!("there is no study {STUDY}"))?;
    let places = inspect(args, study)?;
    let json = args.json.as_deref().map(JsonTarget::open).transpose()?;
    let header = session::header();
    let settings = Settings {
        study,
        strategy: STRATEGY,
        began,
        budget: args.budget.unwrap_or(DEFAULT_BUDGET),
        seed: args.seed.unwrap_or_else(|| u64::from(rand::random::<u32>())),
        stop: signals::stop_flag()?,
    };
    let result = measure(&settings, header, LocalEnvironment::new(places))?;
    output::report(json, &result, |width| report::selftest::report(&result, width))?;
    Ok(exit_code(&result))
}

/// Tests the environment's places, with its progress on the terminal.
fn measure(
    settings: &Settings<'_>,
    header: Header,
    mut environment: LocalEnvironment,
) -> anyhow::Result<SelftestResult> {
    let mut progress = Progress::new(settings.began, settings.budget);
    let mut open = |places: &[PlaceFacts]| {
        Session::open(places, StopFlag::clone(&settings.stop), settings.began)
    };
    let result = selftest(settings, header, &mut environment, &mut open, &mut |state| {
        progress.show_state(state);
    });
    progress.finish();
    result
}

/// The facts of the places, after checking that there is room to work in them.
fn inspect(args: &SelftestArgs, study: &dyn Study) -> anyhow::Result<Vec<PlaceFacts>> {
    let mut requested = default_places();
    requested.truncate(1);
    if !args.places.is_empty() {
        requested.clone_from(&args.places);
    }
    let mut places: Vec<PlaceFacts> = Vec::new();
    for place in &requested {
        if places.iter().any(|earlier| earlier.label == place.label) {
            bail!(UsageError(format!(
                "the label `{}` is used twice: give each place a label of its own",
                place.label
            )));
        }
        let facts = places::inspect(&place.label, &place.path)?;
        let arms = twins_job(study, STRATEGY, &facts)?.arms;
        let workloads = preflight::workloads(&arms)?;
        preflight::check_space(&[facts.clone(), facts.clone()], &arms, &workloads)?;
        places.push(facts);
    }
    Ok(places)
}

fn exit_code(result: &SelftestResult) -> Exit {
    match (result.run.interrupted, result.objections.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::CouldNot,
    }
}
