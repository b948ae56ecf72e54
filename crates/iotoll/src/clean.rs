//! `iotoll clean`: removes what killed runs left in places.

use std::fmt::Write as _;

use anyhow::bail;
use model::units::{count, rough_size};
use places::{CleanReport, Foreign};

use crate::cli::CleanArgs;
use crate::exit::Exit;
use crate::output;
use crate::plan::places_or_default;

pub(crate) fn run(args: &CleanArgs) -> anyhow::Result<Exit> {
    let requested = places_or_default(&args.places)?;
    let foreign = if args.foreign { Foreign::Remove } else { Foreign::Keep };
    let (mut failures, mut foreigners) = (0, 0);
    let mut out = String::new();
    for place in &requested {
        let report = places::clean(&place.path, foreign)?;
        out += &told(&report);
        if report == CleanReport::default() {
            out += &format!("nothing to remove in {}\n", place.path.display());
        }
        for failed in &report.failed {
            output::note(&format!("could not remove {}: {}", failed.path.display(), failed.why));
        }
        failures += report.failed.len();
        foreigners += report.foreign.len();
    }
    output::result(&out)?;
    if foreigners > 0 {
        output::note(
            "some folders were kept because they may belong to runs on another host or in another \
             container; once you know that those runs have ended, remove them with `iotoll clean \
             --foreign`",
        );
    }
    if failures > 0 {
        bail!("{failures} leftover folders could not be removed");
    }
    Ok(Exit::Done)
}

/// What became of the folders in a place, each on a line.
fn told(report: &CleanReport) -> String {
    let mut out = String::new();
    for gone in &report.removed {
        let (files, size) = (count(gone.files), rough_size(gone.bytes));
        let _ = writeln!(out, "removed {}: {files} files, {size}", gone.path.display());
    }
    for held in &report.in_use {
        let who = held.pid.map_or_else(String::new, |pid| format!(" by process {pid}"));
        let _ = writeln!(out, "kept {}: in use{who}", held.path.display());
    }
    for foreign in &report.foreign {
        let _ = writeln!(out, "kept {}: {}", foreign.path.display(), foreign.why);
    }
    out
}
