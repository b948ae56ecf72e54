//! `iotoll places`: the file systems and devices of places, without measuring anything.

use host::machine;

use crate::cli::PlacesArgs;
use crate::exit::Exit;
use crate::output;
use crate::plan::places_or_default;

pub(crate) fn run(args: &PlacesArgs) -> anyhow::Result<Exit> {
    let facts = places_or_default(&args.places)?
        .iter()
        .map(|place| places::inspect(&place.label, &place.path))
        .collect::<Result<Vec<_>, _>>()?;
    output::result(&report::places(&facts, &machine::describe(), output::width()))?;
    Ok(Exit::Done)
}
