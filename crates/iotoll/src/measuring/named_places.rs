//! The places that are named on the command line.

use std::path::PathBuf;

use anyhow::bail;
use model::place::{PlaceRequest, Target};
use model::place_argument::{PlaceArgument, labelled};

use crate::exit::UsageError;

/// The places of a run that names none.
pub(crate) fn default_places() -> Vec<PlaceRequest> {
    vec![PlaceRequest::directory("disk", "."), PlaceRequest::directory("ram", "/dev/shm")]
}

/// The places that were named on the command line, each with its label.
pub(crate) fn named_places(arguments: &[PlaceArgument]) -> anyhow::Result<Vec<PlaceRequest>> {
    arguments.iter().try_for_each(refuse_study)?;
    // It is looked at for labels alone; a path that leads nowhere is answered by whoever opens it.
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Ok(labelled(arguments, &here))
}

/// The same, or the default ones where none were named.
pub(crate) fn places_or_default(arguments: &[PlaceArgument]) -> anyhow::Result<Vec<PlaceRequest>> {
    if arguments.is_empty() { Ok(default_places()) } else { named_places(arguments) }
}

/// Refuses a study's name where a directory is wanted and there is none of that name.
fn refuse_study(argument: &PlaceArgument) -> anyhow::Result<()> {
    let PlaceArgument::Bare(Target::Directory(path)) = argument else { return Ok(()) };
    match path.to_str() {
        Some(name) if studies::find(name).is_some() && !path.exists() => {
            bail!(UsageError(format!(
                "`{name}` is a study, and there is no directory of that name here: write --study \
             {name} to run the study"
            )))
        }
        _ => Ok(()),
    }
}
