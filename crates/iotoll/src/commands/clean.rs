//! `iotoll clean`: removes what killed runs left in places, and beside outputs.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::bail;
use clap::{Args, ValueHint};
use model::place::PlaceRequest;
use model::place_argument::PlaceArgument;
use places::{CleanReport, Foreign};
use units::{count, rough_size};

use crate::cli::heading;
use crate::exit::{Exit, UsageError};
use crate::measuring::places_or_default;
use crate::terminal::output;

/// Remove what killed runs left behind
///
/// These are working folders and unfinished outputs in places, and places that were created for
/// a run. Each run also removes the leftovers in its own places.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    iotoll clean                          here and in /dev/shm\n  \
    iotoll clean /srv /mnt/nfs --foreign  those of other hosts as well")]
pub(crate) struct CleanArgs {
    /// Clean these places [default: . /dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    places: Vec<PlaceArgument>,

    /// Remove those of other hosts as well
    ///
    /// This includes earlier boots and other containers. Use it once you know that the runs
    /// which are named there have ended.
    #[arg(long, help_heading = heading::SAFETY)]
    foreign: bool,
}

pub(crate) fn run(args: &CleanArgs) -> anyhow::Result<Exit> {
    let requested = places_or_default(&args.places)?;
    let foreign = if args.foreign { Foreign::Remove } else { Foreign::Keep };
    let (mut failures, mut foreigners) = (0, 0);
    let mut out = String::new();
    let directories = requested.iter().map(directory).collect::<anyhow::Result<Vec<_>>>()?;
    // What runs made for themselves is found there, wherever else they worked.
    let home = places::created_home();
    let homes = (!directories.contains(&home.as_path())).then_some((home.as_path(), false));
    for (path, is_given) in directories.into_iter().map(|path| (path, true)).chain(homes) {
        let report = places::clean(path, if is_given { foreign } else { Foreign::Keep })?;
        out += &told(&report);
        if report == CleanReport::default() && is_given {
            out += &format!("nothing to remove in {}\n", path.display());
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
            "some leftovers were kept because they may belong to runs on another host or in another \
             container; once you know that those runs have ended, remove them with `iotoll clean \
             --foreign`",
        );
    }
    if failures > 0 {
        bail!("leftovers that could not be removed: {failures}");
    }
    Ok(Exit::Done)
}

/// A place's directory. What is made for a run has none.
fn directory(place: &PlaceRequest) -> anyhow::Result<&Path> {
    let none = || {
        UsageError(format!(
            "`{}` is created for a run and removed after it, so it has no directory to clean; any \
             `iotoll clean` also removes what killed runs created",
            place.target
        ))
    };
    Ok(place.target.directory().ok_or_else(none)?)
}

/// What became of the leftovers in a place, each on a line.
fn told(report: &CleanReport) -> String {
    let mut out = String::new();
    for gone in &report.removed {
        let (files, size) = (count(gone.files), rough_size(gone.bytes));
        let _ = writeln!(out, "removed {}: {files} files, {size}", gone.path.display());
        for undone in &gone.undone {
            let _ = writeln!(out, "removed {undone}, which the same run had created");
        }
        for unproved in &gone.unproved {
            let _ = writeln!(out, "kept {unproved}");
        }
    }
    for file in &report.unfinished {
        let (path, size) = (file.path.display(), rough_size(file.bytes));
        let _ = writeln!(out, "removed {path}: an unfinished file, {size}");
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
