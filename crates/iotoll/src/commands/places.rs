//! `iotoll places`: the file systems and devices of places, without measuring anything.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use host::machine;
use model::place::{PlaceFacts, PlaceRequest, Target};
use model::place_argument::PlaceArgument;
use model::run::Machine;
use serde::Serialize;

use crate::cli::heading;
use crate::exit::Exit;
use crate::measuring::places_or_default;
use crate::results::{Destination, deliver_list};

/// The version of the format of `--json`.
const SCHEMA: &str = "iotoll.places/1";

/// Show the file system, mount options and device of directories
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    iotoll places                         here and /dev/shm\n  \
    iotoll places /srv /var/log --json -")]
pub(crate) struct PlacesArgs {
    /// Show these places [default: . /dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    places: Vec<PlaceArgument>,

    /// Write the facts as JSON
    ///
    /// With - as FILE, print it in place of the tree.
    #[arg(help_heading = heading::OUTPUT)]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(args: &PlacesArgs) -> anyhow::Result<Exit> {
    let json = args.json.as_deref().map(Destination::open).transpose()?;
    let requests = places_or_default(&args.places)?;
    let places = requests.iter().map(facts).collect::<anyhow::Result<Vec<_>>>()?;
    let document = Document { schema: SCHEMA, machine: machine::describe(), places };
    let Document { machine, places, .. } = &document;
    deliver_list(json, &document, |width| report::places_tree(places, machine, width))?;
    Ok(Exit::Done)
}

/// What is told as JSON; a place as in the record of a run.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    machine: Machine,
    places: Vec<PlaceFacts>,
}

/// Of a directory, what is there; of what would be made, what it would be.
fn facts(place: &PlaceRequest) -> anyhow::Result<PlaceFacts> {
    Ok(match &place.target {
        Target::Directory(path) => places::inspect(&place.label, path)?,
        Target::Created(created) => places::foreseen(&place.label, created)?,
    })
}
