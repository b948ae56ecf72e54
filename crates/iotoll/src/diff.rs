//! `iotoll diff`: what changed from one run to another.

use std::path::Path;

use analysis::{Analysed, analyse};
use model::run::Run;

use crate::baseline;
use crate::cli::DiffArgs;
use crate::delivery::deliver;
use crate::destination::Destination;
use crate::exit::{Exit, UsageError};
use crate::show;

pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<Exit> {
    let json = args.json.as_deref().map(Destination::open).transpose()?;
    let before = read(args.before.as_deref().unwrap_or(Path::new("last~1")))?;
    let after = read(args.after.as_deref().unwrap_or(Path::new("last")))?;
    let analyses = [analyse(&before), analyse(&after)];
    let judged = baseline::judged(&after, args.worth, args.error_rate);
    let diff = baseline::diff(
        Analysed { run: &before, analysis: &analyses[0] },
        Analysed { run: &after, analysis: &analyses[1] },
        judged,
    );
    deliver(json, &diff, |width| report::diff(&diff, width))?;
    Ok(Exit::Done)
}

fn read(given: &Path) -> anyhow::Result<Box<Run>> {
    Ok(show::comparison(given)
        .map_err(|why| UsageError(format!("cannot compare {}: {why:#}", given.display())))?)
}
