//! `iotoll reproduce`: a published measurement once more, and what holds of it here.

use std::fmt::Write as _;
use std::time::Duration;

use analysis::analyse;
use anyhow::{bail, ensure};
use clap::{Args, ValueHint};
use model::article::MissingProgram;
use model::article_spec::{ArticleSpec, Need, Repetition};
use model::place::PlaceRequest;
use model::place_argument::PlaceArgument;
use model::plan::{Draft, Plan, PlanError, parse_budget, suggestion};
use model::scaled_rates::HeldHere;
use studies::articles;
use units::{exact_duration, parse_size, three_digits};

use crate::articles::{originals, programs};
use crate::cli::{KeptArgs, Offered, RoundsArgs, RunArgs, ShownArgs, heading};
use crate::exit::{Exit, UsageError};
use crate::measuring::{Comparison, default_places, named_places};
use crate::terminal::output;

/// Stands for the folder of the originals' programs.
const ORIGINALS: &str = "plan";
const ALL: &str = "all";

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  iotoll reproduce                                  list the articles
  iotoll reproduce log-locking --quick              a tenth of one
  iotoll reproduce all --quick                      each of them, in ten minutes
  iotoll reproduce journal-compression --write-limit 200GB
  iotoll reproduce shm-cache disk=/srv ram=/dev/shm elsewhere";

const REPRODUCE_NOTES: &str = "\
The programs of an article run where they are installed. The list names those
that are missing, and how to install them. Native ways of doing the same are
measured as well. The programs are written to the folder `originals` next to the
saved runs. `iotoll show` prints the result again.";

/// Repeat a published measurement and check its conclusions
#[derive(Args)]
#[command(after_help = REPRODUCE_EXAMPLES)]
#[command(after_long_help = format!("{REPRODUCE_EXAMPLES}\n\n{REPRODUCE_NOTES}"))]
pub(crate) struct ReproduceArgs {
    /// Repeat this article; without one, list them
    #[arg(value_name = "ARTICLE|all", value_parser = Offered::articles())]
    #[arg(hide_possible_values = true)]
    article: Option<String>,

    /// Use these two places
    ///
    /// The first stands for the article's disk, the second for its RAM.
    /// [default: disk=. ram=/dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath, requires = "article")]
    places: Vec<PlaceArgument>,

    /// Take a tenth of the time
    ///
    /// Take a tenth of the article's counts as well.
    #[arg(long, requires = "article", help_heading = heading::PRECISION)]
    quick: bool,

    /// Stop each run after this time
    ///
    /// Write it as 5min, 90s or 90. [default: the article's]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    #[arg(help_heading = heading::PRECISION)]
    budget: Option<Duration>,

    #[command(flatten)]
    rounds: RoundsArgs,

    /// Set the seed of the random order
    #[arg(long, value_name = "N", help_heading = heading::PRECISION)]
    seed: Option<u64>,

    #[command(flatten)]
    shown: ShownArgs,

    /// Do not keep the runs for `iotoll show`
    #[arg(long, help_heading = heading::OUTPUT)]
    no_save: bool,

    /// Stop when this much is written [default: 16GiB]
    ///
    /// It counts for each run, and for storage that wears.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = heading::SAFETY)]
    write_limit: Option<u64>,

    /// Show what would be done, and measure nothing
    ///
    /// This includes the most that would be written.
    #[arg(long, requires = "article", help_heading = heading::SAFETY)]
    dry_run: bool,
}

pub(crate) fn run(args: &ReproduceArgs) -> anyhow::Result<Exit> {
    let Some(name) = &args.article else { return list() };
    let chosen = if name == ALL { articles::ALL.to_vec() } else { vec![named(name)?] };
    if let (2.., Some((_, file))) = (chosen.len(), args.shown.formats.files().first()) {
        bail!(UsageError(format!(
            "`all` makes {} results, which {} cannot hold: leave it out, and use `iotoll report` \
             or `iotoll show` afterwards",
            chosen.len(),
            file.display()
        )));
    }
    let run_args = RunArgs {
        shown: args.shown.clone(),
        kept: KeptArgs { no_save: args.no_save, dry_run: args.dry_run },
        ..RunArgs::default()
    };
    let mut worst = Exit::Done;
    for (number, spec) in chosen.iter().enumerate() {
        if number > 0 {
            output::result("\n")?;
        }
        let exit = one(spec, args, &run_args)?;
        if exit == Exit::Interrupted {
            return Ok(exit);
        }
        worst = if worst == Exit::Done { exit } else { worst };
    }
    Ok(worst)
}

/// Measures one article.
fn one(
    spec: &'static ArticleSpec,
    args: &ReproduceArgs,
    run_args: &RunArgs,
) -> anyhow::Result<Exit> {
    let missing = missing(spec);
    for need in &missing {
        let Need { what, install, .. } = need;
        output::note(&format!(
            "{}: {what} is not installed (`{install}` installs it); the rest is measured",
            spec.name
        ));
    }
    let mut draft = draft(spec, args, &missing)?;
    let held = held(spec, args, run_args, &draft)?;
    for held in &held {
        held.scale(&mut draft);
    }
    let plan = finish(draft)?;
    let [disk, ram] = [0, 1].map(|place: usize| plan.places[place].label.clone());
    let told = |need: &&Need| MissingProgram {
        what: need.what.to_owned(),
        install: need.install.to_owned(),
    };
    let repetition = Repetition {
        spec,
        labels: [disk, ram],
        is_quick: args.quick,
        missing: missing.iter().map(told).collect(),
        held,
    };
    let comparison = Comparison {
        chose_places: !args.places.is_empty(),
        article: &|plan| Some(repetition.article(plan)),
        ..Comparison::of(&plan, run_args)
    };
    comparison.run()
}

/// How long the highest rate of a server may be searched for.
const SEARCH_BUDGET: Duration = Duration::from_secs(30);

/// What each server of an article holds here, as far as it can be found.
fn held(
    spec: &'static ArticleSpec,
    args: &ReproduceArgs,
    run_args: &RunArgs,
    draft: &Draft,
) -> anyhow::Result<Vec<HeldHere>> {
    let name = spec.name;
    if args.dry_run && !spec.scaled.is_empty() {
        output::note(&format!(
            "{name}: these are the article's rates; a run first measures how many requests a second \
             each server holds here, and scales its rates to that"
        ));
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for of in spec.scaled {
        let Some(search) = of.search(draft) else { continue };
        let plan = finish(Draft { budget: Some(SEARCH_BUDGET), ..search })?;
        let chose_places = !args.places.is_empty();
        let search = Comparison { chose_places, ..Comparison::of(&plan, run_args) };
        let run = search.one_round()?;
        if run.run.interrupted {
            break;
        }
        let result = analyse(&run).arms.into_iter().next();
        // It is judged by the time between connections at the highest rate that it holds.
        let between_ns = result.as_ref().and_then(|arm| arm.typical_ns);
        if let Some(per_second) = between_ns.map(|ns| 1e9 / ns).filter(|rate| rate.is_finite()) {
            let held = HeldHere { of, per_second };
            let (arms, times) = (of.arms, three_digits(held.times()));
            output::note(&format!(
                "{name}: {arms} holds {} requests a second here; its rates are {times} times the \
                 article's",
                three_digits(per_second)
            ));
            found.push(held);
        } else {
            let why = result.and_then(|arm| arm.failure);
            let why = why.unwrap_or_else(|| format!("none was found within {SEARCH_BUDGET:?}"));
            let arms = of.arms;
            output::note(&format!(
                "{name}: {arms} keeps the article's rates, because the highest rate that it holds \
                 is unknown: {why}"
            ));
        }
    }
    Ok(found)
}

fn finish(draft: Draft) -> Result<Plan, PlanError> {
    draft.finish(u64::from(rand::random::<u32>()))
}

fn draft(
    spec: &'static ArticleSpec,
    args: &ReproduceArgs,
    missing: &[&Need],
) -> anyhow::Result<Draft> {
    let mut draft = spec.draft(&studies::specs(), args.quick, missing)?;
    let places =
        if args.places.is_empty() { default_places() } else { named_places(&args.places)? };
    ensure!(
        places.len() == 2,
        UsageError(format!(
            "an article is reproduced on two places, and {} were named: the first stands for its \
             disk, the second for its RAM, as in `iotoll reproduce {} /srv /dev/shm`",
            places.len(),
            spec.name
        ))
    );
    draft.places = places;
    for place in spec.places_without(missing) {
        draft.places.push(PlaceRequest::new(place.label, place.target)?);
    }
    draft.budget = args.budget.or(draft.budget);
    draft.rounds = args.rounds.rounds;
    draft.seed = args.seed;
    draft.write_limit_bytes = args.write_limit;
    let uses_originals = spec.needs.iter().any(|need| !missing.iter().any(|m| m.what == need.what));
    if uses_originals && spec.plan.contains("{plan}") {
        draft.fill_in(ORIGINALS, &originals::folder()?.display().to_string());
    }
    Ok(draft)
}

/// What is not installed of what an article measured with.
fn missing(spec: &'static ArticleSpec) -> Vec<&'static Need> {
    spec.needs.iter().filter(|need| !programs::succeeds(need.test)).collect()
}

fn named(name: &str) -> Result<&'static ArticleSpec, UsageError> {
    articles::find(name).ok_or_else(|| {
        let known = articles::ALL.iter().map(|article| article.name).chain([ALL]);
        UsageError(format!("no article `{name}`{}", suggestion(name, known)))
    })
}

/// The articles, with what each asks, how long it takes, and what is missing for it.
fn list() -> anyhow::Result<Exit> {
    let width = output::width().min(report::terminal::WIDTH);
    let mut out = String::new();
    for spec in articles::ALL {
        let gap = if out.is_empty() { "" } else { "\n" };
        let bold = anstyle::Style::new().bold();
        let ArticleSpec { name, year, original, .. } = spec;
        writeln!(out, "{gap}{bold}{name}{bold:#}  {year}, measured with {original}")?;
        let mut tell = |text: &str| out += &report::paragraph("  ", "  ", text, width);
        tell(spec.question);
        let budget = |is_quick: bool| -> Result<String, PlanError> {
            let draft = spec.draft(&studies::specs(), is_quick, &[])?;
            Ok(draft.budget.map_or_else(String::new, exact_duration))
        };
        tell(&format!("Takes at most {}; with --quick, {}.", budget(false)?, budget(true)?));
        for Need { what, install, .. } in missing(spec) {
            tell(&format!("Not installed: {what} (`{install}`)."));
        }
    }
    output::result(&out)?;
    Ok(Exit::Done)
}
