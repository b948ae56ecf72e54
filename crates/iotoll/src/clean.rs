//! `iotoll clean`: removes what killed runs left in places.

use anyhow::bail;
use model::units::{count, rough_size};

use crate::cli::PlacesArgs;
use crate::exit::Exit;
use crate::output;
use crate::plan::default_places;

pub(crate) fn run(args: &PlacesArgs) -> anyhow::Result<Exit> {
    let requested = if args.places.is_empty() { default_places() } else { args.places.clone() };
    let mut failures = 0;
    let mut out = String::new();
    for place in &requested {
        let report = places::clean(&place.path)?;
        for gone in &report.removed {
            out += &format!(
                "removed {}: {} files, {}\n",
                gone.path.display(),
                count(gone.files),
                rough_size(gone.bytes)
            );
        }
        for held in &report.in_use {
            let who = held.pid.map_or_else(String::new, |pid| format!(" by process {pid}"));
            out += &format!("kept {}: in use{who}\n", held.path.display());
        }
        for failed in &report.failed {
            output::note(&format!("could not remove {}: {}", failed.path.display(), failed.why));
            failures += 1;
        }
        if report.removed.is_empty() && report.in_use.is_empty() && report.failed.is_empty() {
            out += &format!("nothing to remove in {}\n", place.path.display());
        }
    }
    output::result(&out)?;
    if failures > 0 {
        bail!("{failures} leftover folders could not be removed");
    }
    Ok(Exit::Done)
}
