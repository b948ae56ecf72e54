//! How a comparison is measured and what becomes of it, whatever its plan is.

use std::path::PathBuf;

use clap::Args;
use engine::run_limits::{RunLimits, WRITE_LIMIT_BYTES};
use units::parse_size;

use super::FormatsOfComparison;

// No comments of documentation on structs here: they would become the help texts of commands.
#[derive(Args, Clone, Default)]
pub(crate) struct ShownArgs {
    /// While it runs, show one line on a terminal and nothing elsewhere
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print every table, cause and check after the answer
    #[arg(long)]
    pub(crate) full: bool,

    #[command(flatten)]
    pub(crate) formats: FormatsOfComparison,
}

#[derive(Args, Default)]
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) shown: ShownArgs,

    /// Do not keep the run for `iotoll show`
    #[arg(long)]
    pub(crate) no_save: bool,

    /// The most that may be written to storage that wears, all places but those in memory
    /// together, before the run ends [default: 16 GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) write_limit: Option<u64>,

    /// Let neighbours come first: small slices with long pauses between them, and storage
    /// that serves others first. Tolls may be higher, with caches gone cold in the pauses,
    /// and the default budget is an hour
    #[arg(long)]
    pub(crate) gentle: bool,

    /// Under mpirun: these places are on storage that each machine has its own of, and every
    /// client works in its own directory there
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    pub(crate) local: Vec<String>,

    /// Show what would be measured and at most written, without measuring
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Exit with status 4 if any comparison has no verdict
    #[arg(long)]
    pub(crate) require_verdict: bool,

    #[command(flatten)]
    pub(crate) baseline: BaselineArgs,

    /// Say on standard error when each block is complete and kept
    #[arg(long, hide = true)]
    pub(crate) tell_blocks: bool,
}

#[derive(Args, Default)]
pub(crate) struct BaselineArgs {
    /// Exit with status 5 if an arm is surely slower than in this earlier run, by more than
    /// worth; `iotoll diff --help` says how that is told
    #[arg(long, value_name = "FILE|RUN")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write what changed since the baseline as XML of the kind that `JUnit` writes
    #[arg(long, value_name = "FILE", requires = "baseline")]
    pub(crate) junit: Option<PathBuf>,

    /// Print what changed since the baseline as GitHub's annotations
    #[arg(long, requires = "baseline")]
    pub(crate) github: bool,
}

impl RunArgs {
    /// How the machine and its neighbours are treated.
    pub(crate) fn run_limits(&self) -> RunLimits {
        let write_limit_bytes = self.write_limit.unwrap_or(WRITE_LIMIT_BYTES);
        RunLimits { write_limit_bytes, gentle: self.gentle }
    }
}
