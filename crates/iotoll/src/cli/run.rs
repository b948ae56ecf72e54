//! How a comparison is measured and what becomes of it, whatever its plan is.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use model::matching::{AnyValue, Matching};
use model::plan::parse_rounds;
use units::parse_size;

use super::{FormatsOfComparison, heading};

// No comments of documentation on structs here: they would become the help texts of commands.
#[derive(Args, Clone, Default)]
pub(crate) struct ShownArgs {
    /// Show a single line while it runs
    ///
    /// Elsewhere than on a terminal, show nothing.
    #[arg(long, short, help_heading = heading::OUTPUT)]
    pub(crate) quiet: bool,

    /// Print every table, cause and check
    #[arg(long, help_heading = heading::OUTPUT)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) formats: FormatsOfComparison,
}

#[derive(Args, Clone, Copy, Default)]
pub(crate) struct RoundsArgs {
    /// Stop after N rounds even if undecided
    ///
    /// A round measures every combination once, or twice where there are two.
    #[arg(long, alias = "blocks", value_name = "N", value_parser = parse_rounds)]
    #[arg(help_heading = heading::PRECISION)]
    pub(crate) rounds: Option<NonZeroU32>,
}

/// Whether a run is measured at all, and kept.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct KeptArgs {
    /// Do not keep the run for `iotoll show`
    #[arg(long, help_heading = heading::OUTPUT)]
    pub(crate) no_save: bool,

    /// Show what would be done, and measure nothing
    ///
    /// This includes the most that would be written.
    #[arg(long, help_heading = heading::SAFETY)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Default)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) shown: ShownArgs,

    #[command(flatten)]
    pub(crate) kept: KeptArgs,

    /// Exit with 4 if anything is undecided
    #[arg(long, help_heading = heading::CI)]
    pub(crate) require_verdict: bool,

    #[command(flatten)]
    pub(crate) gate: GateArgs,

    /// Use low I/O priority and long pauses
    ///
    /// Measure in small bursts, so that other programs on the storage come first. Times may be
    /// higher, because caches go cold in the pauses. The default budget is an hour.
    #[arg(long, help_heading = heading::SAFETY)]
    pub(crate) gentle: bool,

    /// Stop when this much is written [default: 16GiB]
    ///
    /// This spares storage that wears: all places count together, but for those in memory.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = heading::SAFETY)]
    pub(crate) write_limit: Option<u64>,

    /// Let each machine use its own storage there
    ///
    /// Under mpirun, name the places that the machines do not share. Every client then works in
    /// its own directory.
    #[arg(long, value_name = "LABEL", value_delimiter = ',', help_heading = heading::MPI)]
    pub(crate) local: Vec<String>,

    /// Say on standard error when each block is complete and kept
    #[arg(long, hide = true)]
    pub(crate) tell_blocks: bool,
}

#[derive(Args, Clone, Default)]
pub(crate) struct GateArgs {
    /// Exit with 5 if slower than an earlier run
    ///
    /// Something must be surely slower, and by more than the threshold. `iotoll diff --help`
    /// explains how two runs are compared. Exit with 6 if a combination of the earlier run was
    /// not measured.
    #[arg(long, value_name = "FILE|RUN", help_heading = heading::CI)]
    pub(crate) baseline: Option<PathBuf>,

    /// Pass without combinations of the baseline
    ///
    /// Also pass if nothing can be compared with it.
    #[arg(long, requires = "baseline", help_heading = heading::CI)]
    pub(crate) allow_missing: bool,

    #[command(flatten)]
    pub(crate) matching: MatchArgs,

    /// Write what was judged as `JUnit`'s XML
    #[arg(long, value_name = "FILE", help_heading = heading::CI)]
    pub(crate) junit: Option<PathBuf>,

    /// Print what fails as GitHub's annotations
    #[arg(long, help_heading = heading::CI)]
    pub(crate) github: bool,
}

#[derive(Args, Clone, Default)]
pub(crate) struct MatchArgs {
    /// Pair rows that differ in this, as in exec.command=*
    ///
    /// Two runs are compared where study, strategy, place and all parameters are the same. This
    /// pairs those that differ in this parameter alone. It can be given again.
    #[arg(long = "match", value_name = "STUDY.KEY=*")]
    any: Vec<AnyValue>,
}

impl MatchArgs {
    /// How the rows of two runs are matched.
    pub(crate) fn rule(&self) -> Matching {
        Matching { any: self.any.clone() }
    }
}
