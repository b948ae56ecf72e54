//! The command for published measurements.

use std::time::Duration;

use clap::{Args, ValueHint};
use model::place_argument::PlaceArgument;
use model::plan::parse_budget;
use units::parse_size;

use super::OutputArgs;

const REPRODUCE_NOTES: &str = "\
Examples:
  iotoll reproduce                                  list the articles
  iotoll reproduce log-locking --quick              a tenth of one
  iotoll reproduce all --quick                      each of them, in ten minutes
  iotoll reproduce journal-compression --write-limit 200GB
  iotoll reproduce shm-cache disk=/srv ram=/dev/shm elsewhere

What an article measured with is started where it is installed; the list says
what is missing and how to install it. Native ways of doing the same are
measured beside it. Its programs are written to the folder `originals` beside
the saved runs. `iotoll show` prints the result again.";

#[derive(Args)]
#[command(after_help = REPRODUCE_NOTES)]
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct ReproduceArgs {
    /// The article, or all; without one, the articles are listed
    #[arg(value_name = "ARTICLE|all")]
    pub(crate) article: Option<String>,

    /// Two places: what stands for the article's disk, and what for its RAM
    /// [default: disk=. ram=/dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath, requires = "article")]
    pub(crate) places: Vec<PlaceArgument>,

    /// Take a tenth of the time, and of the counts that a slice has
    #[arg(long, requires = "article")]
    pub(crate) quick: bool,

    /// The longest that each run may take, as in 5min, 90s or 90 [default: the article's]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,

    /// Seed of the random order [default: random]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// While it runs, show one line on a terminal and nothing elsewhere
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Do not keep the runs for `iotoll show`
    #[arg(long)]
    pub(crate) no_save: bool,

    /// The most that each run may write to storage that wears [default: 16 GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) write_limit: Option<u64>,

    /// Show what would be measured and at most written, without measuring
    #[arg(long, requires = "article")]
    pub(crate) dry_run: bool,
}
