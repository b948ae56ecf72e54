//! `iotoll reproduce`: a published measurement once more, and what holds of it here.

use std::fmt::Write as _;

use anyhow::ensure;
use model::article::MissingProgram;
use model::article_spec::{ArticleSpec, Need, Repetition};
use model::place::PlaceRequest;
use model::plan::{Plan, PlanError};
use model::study::nearest;
use studies::articles;
use units::exact_duration;

use crate::cli::{CompareArgs, ReproduceArgs};
use crate::exit::{Exit, UsageError};
use crate::plan::{default_places, named_places};
use crate::{compare, originals, output, programs};

/// Stands for the folder of the originals' programs.
const ORIGINALS: &str = "plan";
const ALL: &str = "all";

pub(crate) fn run(args: &ReproduceArgs) -> anyhow::Result<Exit> {
    let Some(name) = &args.article else { return list() };
    let chosen = if name == ALL { articles::ALL.to_vec() } else { vec![named(name)?] };
    if let (2.., Some((_, file))) = (chosen.len(), args.output.files().next()) {
        return Err(UsageError(format!(
            "`all` makes {} results, which {} cannot hold: leave it out, and use `iotoll report` \
             or `iotoll show` afterwards",
            chosen.len(),
            file.display()
        ))
        .into());
    }
    let as_compare = CompareArgs {
        places: args.places.clone(),
        write_limit: args.write_limit,
        quiet: args.quiet,
        no_save: args.no_save,
        dry_run: args.dry_run,
        output: args.output.clone(),
        ..CompareArgs::default()
    };
    let mut worst = Exit::Done;
    for (number, spec) in chosen.iter().enumerate() {
        if number > 0 {
            output::result("\n")?;
        }
        let exit = one(spec, args, &as_compare)?;
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
    as_compare: &CompareArgs,
) -> anyhow::Result<Exit> {
    let missing = missing(spec);
    for need in &missing {
        let Need { what, install, .. } = need;
        output::note(&format!(
            "{}: {what} is not installed (`{install}` installs it); the rest is measured",
            spec.name
        ));
    }
    let plan = plan(spec, args, &missing)?;
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
    };
    compare::measured(as_compare, &plan, &|plan| Some(repetition.article(plan)), None)
}

fn plan(
    spec: &'static ArticleSpec,
    args: &ReproduceArgs,
    missing: &[&Need],
) -> anyhow::Result<Plan> {
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
    draft.seed = args.seed;
    let uses_originals = spec.needs.iter().any(|need| !missing.iter().any(|m| m.what == need.what));
    if uses_originals && spec.plan.contains("{plan}") {
        draft.fill_in(ORIGINALS, &originals::folder()?.display().to_string());
    }
    Ok(draft.finish(u64::from(rand::random::<u32>()))?)
}

/// What is not installed of what an article measured with.
fn missing(spec: &'static ArticleSpec) -> Vec<&'static Need> {
    spec.needs.iter().filter(|need| !programs::succeeds(need.test)).collect()
}

fn named(name: &str) -> Result<&'static ArticleSpec, UsageError> {
    articles::find(name).ok_or_else(|| {
        let known = || articles::ALL.iter().map(|article| article.name).chain([ALL]);
        let near = nearest(name, known());
        let hint = near.map_or_else(
            || format!("; there is {}", known().collect::<Vec<_>>().join(", ")),
            |near| format!("; did you mean `{near}`?"),
        );
        UsageError(format!("no article `{name}`{hint}"))
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
