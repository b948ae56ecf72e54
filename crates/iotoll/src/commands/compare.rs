//! `iotoll compare`: flags and a plan file, as a plan that is measured.

use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueHint};
use engine::run_limits::WRITE_LIMIT_BYTES;
use host::input::Input;
use model::demands::Typed;
use model::place::Target;
use model::place_argument::PlaceArgument;
use model::plan::{Draft, GENTLE_BUDGET, Plan, StudyPlan, parse_budget};
use model::plan_file;
use model::study::{ParamKind, StudyDescription, parse_error_rate, parse_threshold};
use units::{Limit, exact_size, quoted};

use crate::cli::{Offered, RoundsArgs, RunArgs, heading};
use crate::exit::{self, Exit, UsageError};
use crate::measuring::{
    Comparison, Consent, Request, clients, default_places, launched, mine, named_places,
};
use crate::results::Destination;
use crate::terminal::output;

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
  iotoll compare plan.toml --json -             a plan file, the result as JSON

Your own files, of which copies are measured:
  iotoll compare --mine var/cache --mine var/log/shop.log \\
      --mine var/data/shop.db /srv /dev/shm

Names: `iotoll studies` lists studies, `iotoll studies log` strategies and keys.";

fn places_details() -> String {
    format!(
        "Directories to compare [default: disk=. ram=/dev/shm]\n\nEverything is compared with \
         the first. A path without a label is labelled by its last part. {} are created for the \
         run and removed after it. A file that ends in .toml is a plan.",
        model::created::forms()
    )
}

/// Measure file I/O on several places and report what differs
#[derive(Args)]
#[command(after_help = COMPARE_EXAMPLES)]
#[command(after_long_help = format!("{COMPARE_EXAMPLES}\n\n{}", exit::CODES))]
pub(crate) struct CompareArgs {
    /// Directories to compare [default: disk=. ram=/dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::AnyPath)]
    #[arg(help_heading = heading::PLACES, long_help = places_details())]
    places: Vec<PlaceArgument>,

    /// Measure with copies of your own files
    ///
    /// Give a folder of many small files, a page's files or templates, a log, or a SQLite
    /// database. iotoll says what it takes each path for, and only copies it. It can be given
    /// again.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    #[arg(help_heading = heading::WORKLOAD)]
    mine: Vec<PathBuf>,

    /// Run only these studies, as in log,sqlite
    ///
    /// With --mine, run them as well.
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

    /// Write what will be measured to a plan file
    ///
    /// The file has all that is going to be measured, and gives the same plan again.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = heading::OUTPUT)]
    write_plan: Option<PathBuf>,

    /// Say how often your application does it
    ///
    /// Give the operations per second of all studies, or of one study or file of yours, as
    /// in log=300 or shop.log=300; repeat it for others. The report then says what a change
    /// saves.
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

    /// Stop after this time [default: 30s]
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

    /// Exit with 5 if a figure is beyond a limit
    ///
    /// Name a figure, a sign and a value, as in 'log.p99 > 5ms' or 'sqlite.syncs > 3'. The
    /// figure must surely be beyond it; exit with 4 if that is undecided. All figures are per
    /// operation. Name one combination as in 'log/held@disk.p99 > 5ms'. It can be given again.
    #[arg(long, value_name = "LIMIT", help_heading = heading::CI)]
    fail: Vec<Limit>,

    #[command(flatten)]
    run: RunArgs,

    /// Run the commands that the plan file has
    ///
    /// Agree to the commands, the files and the created places of the plan file. Without this
    /// flag, iotoll lists them and asks.
    #[arg(long, help_heading = heading::SAFETY)]
    allow_commands: bool,
}

pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    launched::with_all(&|others| {
        let named = Named::of(args)?;
        let (plan, typed) = plan_of(args, &named, clients::count(others))?;
        if let Some(file) = &named.plan {
            let (allowed, dry_run) = (args.allow_commands, args.run.kept.dry_run);
            if (Request { file, typed, allowed, dry_run }).ask(&plan)? == Consent::OnlyShown {
                return Ok(Exit::Done);
            }
        }
        if let Some(file) = &args.write_plan {
            write(&plan, file)?;
        }
        tell_of_own(args, &named, &plan)?;
        let comparison = Comparison {
            chose_places: !named.places.is_empty() || named.plan.is_some(),
            others,
            ..Comparison::of(&plan, &args.run)
        };
        comparison.run()
    })
}

/// What the arguments without a flag name: places, or one of them a plan file.
struct Named {
    places: Vec<PlaceArgument>,
    plan: Option<PathBuf>,
}

impl Named {
    fn of(args: &CompareArgs) -> anyhow::Result<Self> {
        if let Some(path) = args.places.iter().filter_map(toml).find(|path| !path.exists()) {
            bail!(UsageError(format!(
                "there is no plan file {}; name one that exists, or keep a plan there with \
                 --write-plan",
                path.display()
            )));
        }
        let is_plan = |argument: &&PlaceArgument| plan_among(argument).is_some();
        let (plans, places): (Vec<_>, Vec<_>) = args.places.iter().partition(is_plan);
        let plans: Vec<PathBuf> =
            args.plan.iter().cloned().chain(plans.into_iter().filter_map(plan_among)).collect();
        if let [one, another, ..] = plans.as_slice() {
            bail!(UsageError(format!(
                "{} and {} are two plan files, and a run has one; name one of them",
                one.display(),
                another.display()
            )));
        }
        ensure!(
            !plans.is_empty() || !args.allow_commands,
            UsageError(
                "--allow-commands agrees to a plan file: name one, as in --plan FILE".into()
            )
        );
        Ok(Self { places: places.into_iter().cloned().collect(), plan: plans.into_iter().next() })
    }
}

/// The plan file that an argument names, where it is one: a regular file that ends in .toml.
fn plan_among(argument: &PlaceArgument) -> Option<PathBuf> {
    toml(argument).filter(|path| path.is_file()).cloned()
}

fn toml(argument: &PlaceArgument) -> Option<&PathBuf> {
    let PlaceArgument::Bare(Target::Directory(path)) = argument else { return None };
    path.extension().is_some_and(|ending| ending == "toml").then_some(path)
}

/// The plan that the flags describe, for so many clients, and what of it was typed.
fn plan_of(args: &CompareArgs, named: &Named, clients: usize) -> anyhow::Result<(Plan, Typed)> {
    let mut typed = Typed::default();
    let registry = studies::specs();
    let mut draft = match &named.plan {
        Some(file) => {
            let text = read(file)?;
            let parse = || plan_file::parse(&text, &file.display().to_string(), &registry);
            let mut draft = process::in_confined_thread(parse)??;
            draft.fill_in(PLAN_FOLDER, &folder_of(file)?);
            draft
        }
        None => Draft::default(),
    };
    if !named.places.is_empty() {
        draft.places = named_places(&named.places)?;
        typed.places = draft.places.iter().map(|place| place.label.clone()).collect();
    }
    if draft.places.is_empty() {
        draft.places = default_places();
    }
    typed.paths = choose_studies(&mut draft, args, clients)?;
    if !args.strategy.is_empty() {
        draft.select_strategies(&args.strategy)?;
    }
    typed.params = draft.set_all(&args.set, &registry)?;
    if clients > 1 {
        clients::fill_in(&mut draft, clients)?;
    }
    for (at, now) in args.now.iter().enumerate() {
        let of = |now: &str| now.split('=').next().map(|name| name.trim().to_owned());
        if let Some(other) = args.now[..at].iter().find(|other| of(other) == of(now)) {
            let why = "an application does one of them now; the others are compared with it";
            bail!(UsageError(format!("--now {other} and --now {now}: {why}")));
        }
        draft.set_now(now, &registry)?;
    }
    for rate in &args.per_second {
        draft.set_per_second(rate, &registry)?;
    }
    draft.error_rate = args.error_rate.or(draft.error_rate);
    draft.threshold = args.threshold.or(draft.threshold);
    draft.rounds = args.rounds.rounds.or(draft.rounds);
    draft.gentle |= args.run.gentle;
    draft.write_limit_bytes = write_limit(args.run.write_limit, draft.write_limit_bytes)?;
    draft.budget = args.budget.or(draft.budget).or(draft.gentle.then_some(GENTLE_BUDGET));
    draft.seed = args.seed.or(draft.seed);
    draft.fail.extend(args.fail.iter().cloned());
    Ok((draft.finish(u64::from(rand::random::<u32>()))?, typed))
}

/// What may be written. A plan comes from anywhere: only its user allows more than usual.
fn write_limit(typed: Option<u64>, of_plan: Option<u64>) -> Result<Option<u64>, UsageError> {
    match of_plan.filter(|bytes| typed.is_none() && *bytes > WRITE_LIMIT_BYTES) {
        None => Ok(typed.or(of_plan)),
        Some(bytes) => Err(UsageError(format!(
            "the plan may write up to {}, and usual is {}; if you mean that, add --write-limit {}",
            exact_size(bytes),
            exact_size(WRITE_LIMIT_BYTES),
            quoted(&exact_size(bytes))
        ))),
    }
}

/// Chooses the studies: those of the user's own first, then those that are asked for, and the
/// usual ones where there is neither. Gives back the paths of the user's own.
fn choose_studies(
    draft: &mut Draft,
    args: &CompareArgs,
    clients: usize,
) -> anyhow::Result<Vec<String>> {
    let registry = studies::specs();
    let mine = mine::studies(&args.mine)?;
    if !args.study.is_empty() {
        let has = |studies: &[StudyPlan], name: &str| studies.iter().any(|s| s.spec.name == name);
        // To ask for a study that the user's own is of does not ask for generated files, too.
        let asked = args.study.iter().filter(|name| !has(&mine, name) || has(&draft.studies, name));
        let asked: Vec<String> = asked.cloned().collect();
        draft.select_studies(&asked, &registry)?;
    }
    let values = mine.iter().flat_map(|study| &study.factors).flat_map(|(_, values)| values);
    let paths = values.map(ToString::to_string).collect();
    draft.studies.splice(0..0, mine);
    if draft.studies.is_empty() {
        let suits = |spec: &StudyDescription| clients == 1 || clients::suits(spec);
        let usual = registry.iter().filter(|spec| spec.by_default && suits(spec));
        draft.studies = usual.map(|spec| StudyPlan::new(spec)).collect();
    }
    Ok(paths)
}

/// Says what paths of the user's were taken for; or that files which are there are not used.
fn tell_of_own(args: &CompareArgs, named: &Named, plan: &Plan) -> anyhow::Result<()> {
    if !args.mine.is_empty() {
        if args.run.kept.dry_run {
            return output::result(&(mine::told(&plan.studies, output::width()) + "\n"));
        }
        output::aside(|width| mine::told(&plan.studies, width));
        return Ok(());
    }
    let takes_own = |study: &StudyPlan| {
        let mut params = study.spec.params.iter();
        params.any(|param| matches!(param.limits, Some(ParamKind::Path(_))))
    };
    let has_own = |study: &StudyPlan| {
        let given = study.factors.iter().filter_map(|(name, _)| study.spec.param(name));
        given.into_iter().any(|param| matches!(param.limits, Some(ParamKind::Path(_))))
    };
    if named.plan.is_none()
        && plan.studies.iter().any(takes_own)
        && !plan.studies.iter().any(has_own)
        && let Some(text) = mine::not_used(&plan.places, &named.places)
    {
        output::note(&text);
    }
    Ok(())
}

/// Keeps a plan as a file.
fn write(plan: &Plan, file: &Path) -> anyhow::Result<()> {
    ensure!(
        file != Path::new("-"),
        UsageError("--write-plan keeps a plan: name a file, as in --write-plan shop.toml".into())
    );
    Destination::open(file)?.write(plan.written()?.as_bytes())?;
    let flag = if file.extension().is_some_and(|name| name == "toml") { "" } else { "--plan " };
    output::note(&format!(
        "the plan is in {}; `iotoll compare {flag}{}` measures it again",
        file.display(),
        quoted(&file.display().to_string())
    ));
    Ok(())
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
