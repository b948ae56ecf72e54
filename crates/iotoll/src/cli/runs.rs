//! The commands for runs that were saved.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueHint};
use model::place_argument::PlaceArgument;
use model::plan::parse_budget;
use model::study::{parse_error_rate, parse_threshold};

use super::OutputArgs;

const DIFF_NOTES: &str = "\
Two runs are not interleaved, so whatever else changed between them is part of
the difference. The intervals allow for how much repeated runs vary: this is
learned from other saved runs of the same arms on the same setup if there are
four or more, and otherwise assumed to be 5% (one standard deviation). By
default, any of the intervals is wrong in at most 1 of 20 comparisons of two
runs (--error-rate). See docs/runs.md.

A run is given by the beginning of its name, or as `last`, `last~1`, …";

const SHARE_NOTES: &str = "\
Kept: all figures, the studies and strategies, processor and disk models, the
kernel version, file systems and their mount options, and when it ran. Removed:
paths, labels that do not merely name a kind of storage, names of hosts, servers
and programs, addresses, commands and other text that was given, and error
messages. The file gives the same verdicts as the run: `iotoll show`, `diff` and
`report` read it.

A trace of a recording keeps its calls with their times and sizes, and the
structure of folders. Names become numbers, but for those that every machine has
and endings such as .log.";

const RERUN_NOTES: &str = "\
  iotoll rerun last                       the same again
  iotoll rerun run.json /srv /dev/shm     a run from another machine, here
  iotoll rerun 1a2b3c4d disk=/mnt/new     with one place moved
  iotoll diff 1a2b3c4d last               what changed";

#[derive(Args)]
#[command(after_help = "A run is given by the beginning of its name, or as `last`, `last~1`, …: \
                        `iotoll show last~1`.")]
pub(crate) struct HistoryArgs {
    /// Only runs of this study
    #[arg(long, value_name = "NAME")]
    pub(crate) study: Option<String>,

    /// Only runs with a place of this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) place: Option<String>,

    /// Only runs that began since then: a date, as in 2026-11-22, or an age, as in 7d
    #[arg(long, value_name = "DATE|AGE", value_parser = parse_since)]
    pub(crate) since: Option<SystemTime>,

    /// List at most so many [default: 20, and all with --json]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Write the list as JSON; - prints it instead
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = DIFF_NOTES)]
pub(crate) struct DiffArgs {
    /// The earlier run: a file written by --json, or a saved run [default: last~1]
    #[arg(value_name = "FILE|RUN")]
    pub(crate) before: Option<PathBuf>,

    /// The later run [default: last]
    #[arg(value_name = "FILE|RUN")]
    pub(crate) after: Option<PathBuf>,

    /// The smallest relative difference that matters [default: the later run's]
    #[arg(long, alias = "worth", value_name = "SHARE", value_parser = parse_threshold)]
    pub(crate) threshold: Option<f64>,

    /// The share of comparisons of two runs in which any interval may be wrong [default: the
    /// later run's]
    #[arg(long, value_name = "SHARE", value_parser = parse_error_rate)]
    pub(crate) error_rate: Option<f64>,

    /// Write the result as JSON; - prints it instead
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = SHARE_NOTES)]
pub(crate) struct ShareArgs {
    /// The run: a file written by --json, a saved run, or the trace of a recording [default: last]
    #[arg(value_name = "FILE|RUN")]
    pub(crate) run: Option<PathBuf>,

    /// Where it goes: a result as JSON, or a report where the name ends in .html; - prints
    /// the result [default: iotoll-RUN.json, and iotoll-shared.trace for a trace]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = RERUN_NOTES)]
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct RerunArgs {
    /// The run: a file written by --json, or a saved run
    #[arg(value_name = "FILE|RUN")]
    pub(crate) run: PathBuf,

    /// Other directories for its places: one for each, in their order, or some by their labels
    /// [default: where it ran]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    pub(crate) places: Vec<PlaceArgument>,

    /// The longest that the run may take, as in 5min, 90s or 90 [default: as then]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,

    /// Seed of the random order [default: as then]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Agree to the commands, files and created places that a file brings
    #[arg(long)]
    pub(crate) allow_commands: bool,

    /// While it runs, show one line on a terminal and nothing elsewhere
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Do not keep the run for `iotoll show`
    #[arg(long)]
    pub(crate) no_save: bool,

    /// Show what would be measured and at most written, without measuring
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
#[command(after_help = "Without --dry-run, the listed runs are removed at once, without asking. \
                        This cannot be undone.")]
pub(crate) struct PruneArgs {
    /// Remove these runs: the beginning of their names, `last`, or `last~1`, …
    #[arg(value_name = "RUN", conflicts_with_all = ["keep", "older_than"])]
    pub(crate) runs: Vec<String>,

    /// Remove all but the latest so many
    #[arg(long, value_name = "N")]
    pub(crate) keep: Option<usize>,

    /// Remove those that began longer ago than this, as in 30d; with --keep, but not the
    /// latest so many
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) older_than: Option<Duration>,

    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Reads an age: `30d`, `12h`, `2weeks`.
fn parse_age(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|_| format!("`{text}` is not an age: write it as 30d, 12h or 2weeks"))
}

/// Reads a date, as the moment at which it begins, or an age, as that long ago.
fn parse_since(text: &str) -> Result<SystemTime, String> {
    let date = humantime::parse_rfc3339_weak(text)
        .or_else(|_| humantime::parse_rfc3339_weak(&format!("{text}T00:00:00Z")));
    let ago = || SystemTime::now().checked_sub(parse_age(text).ok()?);
    date.ok().or_else(ago).ok_or_else(|| {
        format!("`{text}` is neither a date nor an age: write it as 2026-11-22 or 7d")
    })
}
