//! `iotoll compare`: flags and a plan file, as a plan that is measured.

use std::io::Read as _;
use std::num::NonZeroU32;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueHint};
use host::input::Input;
use model::demands::Typed;
use model::place_argument::PlaceArgument;
use model::plan::{Draft, GENTLE_BUDGET, Plan, StudyPlan, parse_budget};
use model::plan_file;
use model::study::{StudyDescription, parse_error_rate, parse_threshold};

use crate::cli::{Offered, RunArgs, heading};
use crate::exit::{self, Exit, UsageError};
use crate::measuring::{
    Comparison, Consent, Request, clients, default_places, launched, named_places,
};

/// A plan file larger than this is something else, and takes fifty times its size to read.
const PLAN_BYTES_MAX: u64 = 256 << 10;
/// Stands for the plan file's folder in its texts.
const PLAN_FOLDER: &str = "plan";

const COMPARE_EXAMPLES: &str = "\
Examples:
  iotoll compare                                this directory against RAM
  iotoll compare /var/log /dev/shm --study log  two places
  iotoll compare /srv --study log               one place: compare strategies
  iotoll compare . ram=tmpfs:1G image:xfs:1G    places created for the run
  iotoll compare --set log.sync=each            what fsync on every record costs
  iotoll compare --study serve                  latency as web users see it
  iotoll compare --plan plan.toml --json -      a plan file, the result as JSON

Names: `iotoll studies` lists studies, `iotoll studies log` strategies and keys.";

fn places_details() -> String {
    format!(
        "Directories to compare [default: disk=. ram=/dev/shm]\n\nEverything is compared with \
         the first. A path without a label is labelled by its last part. {} are created for the \
         run and removed after it.",
        model::created::forms()
    )
}

/// Measure file I/O on several places and report what differs
#[derive(Args)]
#[command(after_help = COMPARE_EXAMPLES)]
#[command(after_long_help = format!("{COMPARE_EXAMPLES}\n\n{}", exit::CODES))]
pub(crate) struct CompareArgs {
    /// Directories to compare [default: disk=. ram=/dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    #[arg(help_heading = heading::PLACES, long_help = places_details())]
    places: Vec<PlaceArgument>,

    /// Run only these studies, as in log,sqlite
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = heading::WORKLOAD)]
    #[arg(value_parser = Offered::studies(), hide_possible_values = true)]
    study: Vec<String>,

    /// Run only these strategies
    ///
    /// The others are compared with the first.
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = heading::WORKLOAD)]
    #[arg(value_parser = Offered::strategies(), hide_possible_values = true)]
    strategy: Vec<String>,

    /// Compare everything with what you do now
    ///
    /// Give a strategy, as in log=held, or a value, as in log.sync=each.
    #[arg(long, value_name = "STUDY=STRATEGY", help_heading = heading::WORKLOAD)]
    #[arg(value_parser = Offered::ways(), hide_possible_values = true)]
    now: Vec<String>,

    /// Set a parameter, as in log.writers=1,4
    ///
    /// Several values are measured each. A second --set of the same parameter adds values.
    /// `iotoll studies NAME` lists the parameters of a study.
    #[arg(long, value_name = "STUDY.KEY=VALUE", help_heading = heading::WORKLOAD)]
    #[arg(value_parser = Offered::keys(), hide_possible_values = true)]
    set: Vec<String>,

    /// Read places, studies and values from a file
    ///
    /// Flags override the plan file.
    #[arg(long, value_name = "FILE", help_heading = heading::WORKLOAD)]
    #[arg(value_hint = ValueHint::FilePath)]
    plan: Option<PathBuf>,

    /// Say how often your application does it
    ///
    /// Give the operations per second of all studies, or of one, as in log=300. The report
    /// then says what a change saves.
    #[arg(long, value_name = "[STUDY=]N", help_heading = heading::WORKLOAD)]
    per_second: Vec<String>,

    /// Ignore smaller differences [default: 5%]
    ///
    /// Report two combinations as the same where they differ by less, as in 10% or 10.
    #[arg(long, alias = "worth", value_name = "SHARE", value_parser = parse_threshold)]
    #[arg(help_heading = heading::PRECISION)]
    threshold: Option<f64>,

    /// Chance that a verdict is wrong [default: 5%]
    ///
    /// It holds for each verdict. If all of K verdicts must be right, give 5% divided by K.
    #[arg(long, value_name = "SHARE", value_parser = parse_error_rate)]
    #[arg(help_heading = heading::PRECISION)]
    error_rate: Option<f64>,

    /// Stop after this time [default: 60s]
    ///
    /// Write it as 5min, 90s or 90.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    #[arg(help_heading = heading::PRECISION)]
    budget: Option<Duration>,

    /// Stop after N rounds even if undecided
    ///
    /// A round measures every combination once, or twice where there are two.
    #[arg(long, alias = "blocks", value_name = "N", help_heading = heading::PRECISION)]
    rounds: Option<NonZeroU32>,

    /// Set the seed of the random order
    #[arg(long, value_name = "N", help_heading = heading::PRECISION)]
    seed: Option<u64>,

    #[command(flatten)]
    run: RunArgs,

    /// Run the commands that the plan file has
    ///
    /// Agree to the commands, the files and the created places of the plan file. Without this
    /// flag, iotoll lists them and asks.
    #[arg(long, requires = "plan", help_heading = heading::SAFETY)]
    allow_commands: bool,
}

pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    launched::with_all(&|others| {
        let (plan, typed) = plan_of(args, clients::count(others))?;
        if let Some(file) = &args.plan {
            let (allowed, dry_run) = (args.allow_commands, args.run.dry_run);
            if (Request { file, typed, allowed, dry_run }).ask(&plan)? == Consent::OnlyShown {
                return Ok(Exit::Done);
            }
        }
        let comparison = Comparison {
            plan: &plan,
            args: &args.run,
            rounds: args.rounds,
            chose_places: !args.places.is_empty() || args.plan.is_some(),
            article: &|_| None,
            others,
        };
        comparison.run()
    })
}

/// The plan that the flags describe, for so many clients, and what of it was typed.
fn plan_of(args: &CompareArgs, clients: usize) -> anyhow::Result<(Plan, Typed)> {
    let mut typed = Typed::default();
    let registry = studies::specs();
    let mut draft = match &args.plan {
        Some(file) => {
            let text = read(file)?;
            let parse = || plan_file::parse(&text, &file.display().to_string(), &registry);
            let mut draft = process::in_confined_thread(parse)??;
            draft.fill_in(PLAN_FOLDER, &folder_of(file)?);
            draft
        }
        None => Draft::default(),
    };
    if !args.places.is_empty() {
        draft.places = named_places(&args.places)?;
        typed.places = draft.places.iter().map(|place| place.label.clone()).collect();
    }
    if draft.places.is_empty() {
        draft.places = default_places();
    }
    if !args.study.is_empty() {
        draft.select_studies(&args.study, &registry)?;
    }
    if draft.studies.is_empty() {
        let suits = |spec: &StudyDescription| clients == 1 || clients::suits(spec);
        let usual = registry.iter().filter(|spec| spec.by_default && suits(spec));
        draft.studies = usual.map(|spec| StudyPlan::new(spec)).collect();
    }
    if !args.strategy.is_empty() {
        draft.select_strategies(&args.strategy)?;
    }
    typed.params = draft.set_all(&args.set, &registry)?;
    if clients > 1 {
        clients::fill_in(&mut draft, clients)?;
    }
    for now in &args.now {
        draft.set_now(now, &registry)?;
    }
    for rate in &args.per_second {
        draft.set_per_second(rate, &registry)?;
    }
    draft.error_rate = args.error_rate.or(draft.error_rate);
    draft.threshold = args.threshold.or(draft.threshold);
    draft.budget = args.budget.or(draft.budget).or(args.run.gentle.then_some(GENTLE_BUDGET));
    draft.seed = args.seed.or(draft.seed);
    Ok((draft.finish(u64::from(rand::random::<u32>()))?, typed))
}

/// The folder that a plan file is in, from the root on: what a plan refers to is
/// found wherever the command is run. A pipe is in none, and stands in the current one.
fn folder_of(file: &Path) -> anyhow::Result<String> {
    let folder = match file.canonicalize() {
        Ok(file) => file.parent().unwrap_or(Path::new("/")).to_owned(),
        Err(_) => std::env::current_dir().context("finding the current directory")?,
    };
    Ok(folder.display().to_string())
}

fn read(file: &Path) -> anyhow::Result<String> {
    let wrong = |why: &dyn std::fmt::Display| {
        UsageError(format!("cannot read the plan file {}: {why}", file.display()))
    };
    let mut input = Input::open(file, PLAN_BYTES_MAX).map_err(|e| wrong(&e))?;
    places::check_source(input.as_fd(), file).map_err(|e| wrong(&e))?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|e| wrong(&e))?;
    Ok(String::from_utf8(bytes).map_err(|_| wrong(&"it is not text in UTF-8"))?)
}
