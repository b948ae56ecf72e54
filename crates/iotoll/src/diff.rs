//! `iotoll diff`: what changed from one run to another.

use std::path::Path;

use analysis::{Analysed, analyse};

use crate::cli::DiffArgs;
use crate::delivery::{Targets, render};
use crate::destination::Destination;
use crate::exit::{Exit, UsageError};
use crate::source::Source;
use crate::{baseline, confined};

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<Exit> {
    let targets = Targets::json(args.json.as_deref().map(Destination::open).transpose()?);
    let before = args.before.as_deref().unwrap_or(Path::new("last~1"));
    let after = args.after.as_deref().unwrap_or(Path::new("last"));
    let sources = [open(before)?, open(after)?];
    // The child has no way to the saved runs.
    let repeats = baseline::repeats();
    let asked = targets.asked();
    let rendered = confined::rendered(sources, |[first, second]| {
        let before = first.comparison().map_err(|why| cannot(before, &why))?;
        let after = second.comparison().map_err(|why| cannot(after, &why))?;
        let analyses = [analyse(&before), analyse(&after)];
        let judged = baseline::judged(&after, args.threshold, args.error_rate);
        let diff = baseline::diff(
            Analysed { run: &before, analysis: &analyses[0] },
            Analysed { run: &after, analysis: &analyses[1] },
            judged,
            &repeats,
        );
        render(&asked, &diff, |width| report::diff(&diff, width))
    })?;
    targets.deliver(rendered)?;
    Ok(Exit::Done)
}

fn open(given: &Path) -> Result<Source, UsageError> {
    Source::open(Some(given)).map_err(|why| cannot(given, &why))
}

fn cannot(given: &Path, why: &anyhow::Error) -> UsageError {
    UsageError(format!("cannot compare {}: {why:#}", given.display()))
}
