//! `iotoll rerun`: a saved run once more, with its plan and seed, here or elsewhere.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{bail, ensure};
use clap::{Args, ValueHint};
use engine::run_limits::WRITE_LIMIT_BYTES;
use model::demands::Typed;
use model::place::{PlaceRequest, Target};
use model::place_argument::PlaceArgument;
use model::plan::{Draft, Plan, parse_budget};
use model::run::Run;
use units::counted;

use crate::cli::{KeptArgs, RoundsArgs, RunArgs, ShownArgs, heading};
use crate::exit::{Exit, UsageError, sentence};
use crate::measuring::{CheckPlan, Comparison, Consent, Request};
use crate::results::{Source, confined};

const RERUN_NOTES: &str = "\
Examples:
  iotoll rerun last                       the same again
  iotoll rerun run.json /srv /dev/shm     a run from another machine, here
  iotoll rerun 1a2b3c4d disk=/mnt/new     with one place moved
  iotoll diff 1a2b3c4d last               what changed";

/// Measure a saved run again, with its plan and seed
#[derive(Args)]
#[command(after_help = RERUN_NOTES)]
pub(crate) struct RerunArgs {
    /// The run to measure again
    ///
    /// Give a file written by --json, or a saved run: the beginning of its name, `last`, or
    /// `last~1` for the one before.
    #[arg(value_name = "FILE|RUN")]
    run: PathBuf,

    /// Use other directories as its places
    ///
    /// Give one for each place, in their order, or some by their labels. [default: where it ran]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    places: Vec<PlaceArgument>,

    /// Stop after this time [default: as then]
    ///
    /// Write it as 5min, 90s or 90.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    #[arg(help_heading = heading::PRECISION)]
    budget: Option<Duration>,

    #[command(flatten)]
    rounds: RoundsArgs,

    /// Set the seed of the random order
    #[arg(long, value_name = "N", help_heading = heading::PRECISION)]
    seed: Option<u64>,

    /// Run the commands that a file has
    ///
    /// Agree to the commands, the files and the created places of a result file. Without this
    /// flag, iotoll lists them and asks.
    #[arg(long, help_heading = heading::SAFETY)]
    allow_commands: bool,

    #[command(flatten)]
    shown: ShownArgs,

    #[command(flatten)]
    kept: KeptArgs,
}

pub(crate) fn run(args: &RerunArgs) -> anyhow::Result<Exit> {
    let wrong = |why: anyhow::Error| {
        UsageError(format!("cannot run {} again: {}", args.run.display(), sentence(&why)))
    };
    let source = Source::open(Some(&args.run)).map_err(wrong)?;
    let is_file = source.is_file();
    source.refuse_what_others_control(&args.run).map_err(wrong)?;
    let run = confined::comparison(source).map_err(wrong)?;
    let plan = plan(args, &run).map_err(wrong)?;
    if is_file {
        let (allowed, dry_run) = (args.allow_commands, args.kept.dry_run);
        let typed = Typed { places: typed(&args.places, &plan.places), ..Typed::default() };
        let request = Request { file: &args.run, typed, allowed, dry_run };
        if request.ask(&plan)? == Consent::OnlyShown {
            return Ok(Exit::Done);
        }
    }
    plan.places.iter().try_for_each(check_place).map_err(wrong)?;
    let checks = run.checks.as_ref().map(|checks| CheckPlan::again(checks.programs.clone()));
    let run_args = RunArgs {
        shown: ShownArgs { quiet: args.shown.quiet || checks.is_some(), ..args.shown.clone() },
        kept: args.kept,
        ..RunArgs::default()
    };
    // Where a place cannot be made, its arms are others than the article's.
    let has_its_arms = |plan: &Plan| plan.arms().len() == run.plan.arms.len();
    let article = |plan: &Plan| run.article.clone().filter(|_| has_its_arms(plan));
    let comparison = Comparison {
        chose_places: true,
        article: &article,
        checks: checks.as_ref(),
        ..Comparison::of(&plan, &run_args)
    };
    comparison.run()
}

fn plan(args: &RerunArgs, run: &Run) -> anyhow::Result<Plan> {
    let mut draft = Draft::of_run(run, &studies::specs())?;
    draft.places = places(&args.places, &draft.places)?;
    draft.budget = args.budget.or(draft.budget);
    draft.rounds = args.rounds.rounds.or(draft.rounds);
    // Never more than usual: the record may be somebody else's.
    let writes = run.run.writes.as_ref();
    draft.write_limit_bytes = writes.map(|writes| writes.limit_bytes.min(WRITE_LIMIT_BYTES));
    let seed = args.seed.unwrap_or(run.run.seed);
    draft.seed = Some(seed);
    let plan = draft.finish(seed)?;
    plan.check_against(run)?;
    Ok(plan)
}

/// An error where a place needs a directory that is not here.
fn check_place(PlaceRequest { label, target }: &PlaceRequest) -> anyhow::Result<()> {
    let needed = match target {
        Target::Directory(path) => Some(path.as_path()),
        Target::Created(created) => created.stands_on(),
    };
    if let Some(path) = needed.filter(|path| !path.is_dir()) {
        bail!(
            "its place {label} needs the directory {}, which does not exist here; name another, as \
             in {label}=/srv",
            path.display()
        );
    }
    Ok(())
}

/// The labels of places that the user gave.
fn typed(given: &[PlaceArgument], places: &[PlaceRequest]) -> Vec<String> {
    let label = |(position, argument): (usize, &PlaceArgument)| match argument {
        PlaceArgument::Labelled(place) => place.label.clone(),
        PlaceArgument::Bare(_) => places[position].label.clone(),
    };
    given.iter().enumerate().map(label).collect()
}

/// The run's places, with the directories that were given: by label, or all in their order.
/// They keep their labels, by which the runs are compared.
fn places(given: &[PlaceArgument], places: &[PlaceRequest]) -> anyhow::Result<Vec<PlaceRequest>> {
    let mut chosen = places.to_vec();
    let labels = || places.iter().map(|place| place.label.as_str()).collect::<Vec<_>>().join(", ");
    let bare = given.iter().filter(|place| matches!(place, PlaceArgument::Bare(_))).count();
    ensure!(
        bare == 0 || bare == given.len() && bare == places.len(),
        "it has {} ({}): name a directory for each, in that order, or some by their labels, as in \
         {}=/srv",
        counted(places.len() as u64, "place"),
        labels(),
        places.first().map_or("disk", |place| place.label.as_str())
    );
    for (position, argument) in given.iter().enumerate() {
        let at = match argument {
            PlaceArgument::Bare(_) => Some(position),
            PlaceArgument::Labelled(place) => {
                places.iter().position(|known| known.label == place.label)
            }
        };
        match (at, argument) {
            (Some(at), _) => argument.target().clone_into(&mut chosen[at].target),
            (None, PlaceArgument::Labelled(place)) => {
                bail!("it has no place {}: its places are {}", place.label, labels())
            }
            (None, PlaceArgument::Bare(_)) => {}
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn named(given: &[&str]) -> Result<String, String> {
        let given: Vec<PlaceArgument> = given.iter().map(|text| text.parse().unwrap()).collect();
        let known = ["disk=/a", "ram=/b"].map(|text| text.parse().unwrap());
        let places = places(&given, &known).map_err(|error| error.to_string())?;
        let told = places.iter().map(|place| format!("{}={}", place.label, place.target));
        Ok(told.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn places_are_named_anew_by_label_or_in_their_order() {
        assert_eq!(named(&[]).unwrap(), "disk=/a ram=/b");
        assert_eq!(named(&["ram=/c"]).unwrap(), "disk=/a ram=/c");
        assert_eq!(named(&["/c", "/d"]).unwrap(), "disk=/c ram=/d");
        assert!(named(&["/c"]).unwrap_err().contains("it has 2 places (disk, ram)"));
        assert!(named(&["/c", "ram=/d"]).unwrap_err().contains("name a directory for each"));
        assert!(named(&["log=/c"]).unwrap_err().contains("it has no place log"));
    }
}
