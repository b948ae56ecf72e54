//! A run held against an earlier one, and what continuous integration is told of it.

use std::path::Path;

use analysis::{Analysed, Judged, analyse};
use anyhow::anyhow;
use model::analysis::Analysis;
use model::diff::Diff;
use model::plan::Plan;
use model::run::Run;
use store::{Repeats, Store};

use crate::cli::BaselineArgs;
use crate::exit::UsageError;
use crate::results::destination::Destination;
use crate::results::source::Source;
use crate::results::{confined, saving, summaries};
use crate::terminal::output;

/// So many of the latest runs are looked at for such as repeat the two.
const LOOKED_AT: usize = 200;

/// What the saved runs say of how much runs vary; nothing where they cannot be read.
pub(crate) fn repeats() -> Repeats {
    let store = match saving::if_any() {
        Ok(store) => store,
        Err(error) => {
            output::note(&format!("cannot learn from saved runs how much runs vary: {error:#}"));
            None
        }
    };
    store.map(with_times).and_then(|store| store.repeats().ok()).unwrap_or_default()
}

/// What changed, with how much such runs vary.
pub(crate) fn diff(
    before: Analysed<'_>,
    after: Analysed<'_>,
    judged: Judged,
    repeats: &Repeats,
) -> Diff {
    let but = [before.run.run.id.as_str(), after.run.run.id.as_str()];
    analysis::diff(before, after, judged, &mut |setting| repeats.of(setting, but))
}

/// The store, with the tolls of the latest comparisons, of which an older version may have
/// kept none.
fn with_times(mut store: Store) -> Store {
    let mut latest = store.list().unwrap_or_default();
    latest.truncate(LOOKED_AT);
    summaries::complete(&mut store, &mut latest);
    store
}

/// By what two runs are judged: as the later one was, unless something else is said.
pub(crate) fn judged(run: &Run, threshold: Option<f64>, error_rate: Option<f64>) -> Judged {
    Judged {
        threshold: threshold.unwrap_or(run.plan.threshold),
        error_rate: error_rate.unwrap_or(run.plan.error_rate),
    }
}

/// The run that a new one is to be held against, and where what changed goes.
pub(crate) struct Baseline {
    run: Box<Run>,
    analysis: Analysis,
    junit: Option<Destination>,
    github: bool,
}

impl Baseline {
    /// Reads it before anything is measured; nothing where none was given.
    /// `prints` is whether standard output has the report, and no other output.
    pub(crate) fn open(
        args: &BaselineArgs,
        plan: &Plan,
        prints: bool,
    ) -> anyhow::Result<Option<Self>> {
        let Some(given) = args.baseline.as_deref() else { return Ok(None) };
        let run = read(given, plan).map_err(|why| {
            UsageError(format!("cannot use {} as the baseline: {why:#}", given.display()))
        })?;
        let junit = args.junit.as_deref().map(Destination::open).transpose()?;
        if args.github && !prints {
            let why = "--github prints to standard output, which another option already uses";
            return Err(UsageError(why.to_owned()).into());
        }
        let analysis = analyse(&run);
        Ok(Some(Self { run, analysis, junit, github: args.github }))
    }

    /// Says what changed, wherever that is wanted; whether an arm is slower.
    pub(crate) fn report(
        self,
        run: &Run,
        analysis: &Analysis,
        prints: bool,
    ) -> anyhow::Result<bool> {
        let before = Analysed { run: &self.run, analysis: &self.analysis };
        let diff = diff(before, Analysed { run, analysis }, judged(run, None, None), &repeats());
        let is_slower = diff.slower().next().is_some();
        let written = self.junit.map_or(Ok(()), |junit| {
            junit.write(report::ci::junit(&diff, run.run.seconds).as_bytes())
        });
        if prints {
            output::result(&format!("\n{}", report::diff(&diff, output::width())))?;
        }
        if self.github {
            output::commands(&report::ci::github(&diff))?;
        }
        written?;
        if is_slower {
            output::note("--baseline was given, and an arm is slower than in that run");
        }
        Ok(is_slower)
    }
}

/// The run, if it has an arm that the plan has.
fn read(given: &Path, plan: &Plan) -> anyhow::Result<Box<Run>> {
    let run = confined::comparison(Source::open(Some(given))?)?;
    let arms = plan.arms();
    let is_known = |(study, strategy): (&str, &str)| {
        run.plan.arms.iter().any(|arm| arm.study == study && arm.strategy == strategy)
    };
    if arms.iter().any(|arm| is_known((&arm.study.name, &arm.strategy.name))) {
        return Ok(run);
    }
    Err(anyhow!("it measured none of this run's studies and strategies"))
}
