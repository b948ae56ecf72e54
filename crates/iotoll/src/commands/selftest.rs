//! `iotoll selftest`: whether verdicts from this machine can be trusted, and
//! how small a difference it can show.

use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use clap::{Args, ValueHint};
use engine::needs::needs;
use engine::run_limits::RunLimits;
use engine::selftest::aa_test::aa_job;
use engine::selftest::run::{Selftested, selftest};
use engine::selftest::settings::{Planting, Settings, Work};
use model::place::PlaceFacts;
use model::place_argument::PlaceArgument;
use model::plan::parse_budget;
use model::selftest::{PlantedKind, SelftestResult};
use process::StopFlag;
use report::formats::Content;
use store::{Entry, Kind};

use crate::cli::{FormatsOfSelftest, heading};
use crate::exit::{Exit, UsageError};
use crate::measuring::{
    LocalEnvironment, Session, StopReason, default_places, named_places, preflight, session,
};
use crate::results::{Targets, deliver, saving};
use crate::signals;
use crate::terminal::{Progress, Shown, output};

/// Its many short runs need more time than one.
const BUDGET: Duration = Duration::from_secs(60);

/// What is compared with itself: the study whose operations are the shortest, for
/// there the harness and the machine show most.
const WORK: (&str, &str, &[&str]) = ("log", "held", &[]);
/// What is slowed down on purpose. A cold page is one file of a size that is read in
/// about a millisecond, for making files takes longer than reading them.
const PLANTINGS: [(PlantedKind, &str, &str, &[&str]); 4] = [
    (PlantedKind::Writing, "log", "held", &[]),
    (PlantedKind::Syncing, "log", "held", &["sync=each"]),
    (PlantedKind::ColdReading, "page", "read", &["cache=cold", "files=1", "total=1 MiB"]),
    (PlantedKind::Stalls, "log", "held", &[]),
];

const SELFTEST_EXAMPLES: &str = "\
Examples:
  iotoll selftest                   this directory, for a minute
  iotoll selftest /srv --budget 5min";

const SELFTEST_NOTES: &str = "\
Compares each place with itself many times, where any difference found is
false; slows one side down by exactly 10% (in writing, in syncing, in cold
reading, and by stalls) and checks that the intervals contain it; estimates the
smallest difference that a 60-second run can detect; and lists the sources of
noise.

Exit codes:
  0    verdicts from this machine, as it is now, can be trusted
  1    they cannot, or the test failed; the report says why
  2    invalid usage or input
  130  interrupted; what was found so far has been reported";

/// Check whether verdicts from this machine can be trusted
#[derive(Args)]
#[command(after_help = SELFTEST_EXAMPLES)]
#[command(after_long_help = format!("{SELFTEST_EXAMPLES}\n\n{SELFTEST_NOTES}"))]
pub(crate) struct SelftestArgs {
    /// Test these places [default: .]
    ///
    /// They share the time equally.
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    places: Vec<PlaceArgument>,

    /// Stop after this time [default: 60s]
    ///
    /// Write it as 5min, 90s or 90.
    #[arg(help_heading = heading::PRECISION)]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    budget: Option<Duration>,

    /// Set the seed of everything random
    #[arg(long, value_name = "N", help_heading = heading::PRECISION)]
    seed: Option<u64>,

    #[command(flatten)]
    formats: FormatsOfSelftest,

    /// Do not keep the run for `iotoll show`
    #[arg(long, help_heading = heading::OUTPUT)]
    no_save: bool,
}

pub(crate) fn run(args: &SelftestArgs) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let (work, plantings) = (work(WORK)?, plantings()?);
    let places = inspect(args, &work, &plantings)?;
    let targets = Targets::open(args.formats.files())?;
    let store = saving::open(args.no_save);
    let stop_reason = StopReason::new(signals::stop_flag()?);
    let settings = Settings {
        work,
        plantings,
        elapsed: &|| began.elapsed(),
        budget: args.budget.unwrap_or(BUDGET),
        seed: args.seed.unwrap_or_else(|| u64::from(rand::random::<u32>())),
        stop: StopFlag::clone(&stop_reason.stop),
    };
    let mut environment = LocalEnvironment::new(places, Vec::new(), stop_reason.clone());
    let mut progress = Progress::new(began, settings.budget, Shown::Line);
    let mut open = |places: &[PlaceFacts]| {
        Session::open(places, [], &stop_reason, began, RunLimits::default())
    };
    let mut happens = |state: &str| progress.show_state(state);
    let tested = selftest(&settings, session::header(), &mut environment, &mut open, &mut happens);
    progress.finish();
    let Selftested { result, removed } = tested?;
    let labels: Vec<String> = result.places.iter().map(|p| p.place.label.clone()).collect();
    let entry =
        saving::finished(Kind::Selftest, &result.run.id, &result.run.started, result.run.seconds);
    let subject = format!("selftest on {}", labels.join(", "));
    saving::keep(store, &Entry { subject, places: labels, ..entry }, &result);
    deliver(targets, Content::Selftest(&result), |width| report::selftest::report(&result, width))?;
    removed?;
    Ok(exit_code(&result))
}

fn work(
    (study, strategy, params): (&str, &'static str, &'static [&'static str]),
) -> anyhow::Result<Work<'static>> {
    let study = studies::find(study).ok_or_else(|| anyhow!("there is no study {study}"))?;
    Ok(Work { study, strategy, params })
}

fn plantings() -> anyhow::Result<Vec<Planting<'static>>> {
    let planting = |(kind, study, strategy, params)| {
        Ok(Planting { kind, work: work((study, strategy, params))? })
    };
    PLANTINGS.into_iter().map(planting).collect()
}

/// The facts of the places, after checking that there is room to work in them.
fn inspect(
    args: &SelftestArgs,
    work: &Work<'_>,
    plantings: &[Planting<'_>],
) -> anyhow::Result<Vec<PlaceFacts>> {
    let mut requested = default_places();
    requested.truncate(1);
    if !args.places.is_empty() {
        requested = named_places(&args.places)?;
    }
    let mut places: Vec<PlaceFacts> = Vec::new();
    for place in &requested {
        if places.iter().any(|earlier| earlier.label == place.label) {
            bail!(UsageError(format!(
                "the label `{}` is used twice: give each place a label of its own",
                place.label
            )));
        }
        let Some(path) = place.target.directory() else {
            bail!(UsageError(format!(
                "`{}` would have to be created, but selftest only tests existing directories; \
                 name one",
                place.target
            )));
        };
        let facts = places::inspect(&place.label, path)?;
        for work in std::iter::once(work).chain(plantings.iter().map(|planting| &planting.work)) {
            let job = aa_job(work, &facts)?;
            let workloads = preflight::workloads(&job.arms)?;
            let aa_test = [facts.clone(), facts.clone()];
            preflight::check_space(&aa_test, &needs(&job, &workloads, aa_test.len()))?;
        }
        places.push(facts);
    }
    Ok(places)
}

fn exit_code(result: &SelftestResult) -> Exit {
    if let Some(why) = &result.run.ended_early {
        output::note(&format!("ended early: {why}"));
        return Exit::CouldNot;
    }
    match (result.run.interrupted, result.objections.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::CouldNot,
    }
}
