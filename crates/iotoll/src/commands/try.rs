//! `iotoll try`: a command, with its files moved and its syncs left out for real.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use model::plan::parse_budget;
use model::study::parse_threshold;
use units::parse_size;

use crate::cli::{MECHANISMS, RoundsArgs, Wanted, heading, one_of};
use crate::exit::Exit;
use crate::trying;

const TRY_EXAMPLES: &str = "\
Examples:
  iotoll try -- make -j2
  iotoll try --check 'sqlite3 shop.db .schema' -- ./import orders.csv
  iotoll try --move data --budget 2min -- python -m pytest
  iotoll try --serve ./server --ready http://localhost:8000 \
      --load 'http://localhost:8000/ --rate 50'";

const TRY_NOTES: &str = "\
The command runs again and again, in random order: as it is, with its files in
memory, with syncs that do nothing, and with cold files. Each run sees private
copies of the files that it changes, at their usual paths, in the same state. It
can write nothing else, so your files stay as they are. Its standard input is
empty, and its output is compared and thrown away.

Root needs nothing else. Other users need user namespaces; setuid programs have
no rights there.

A server is judged by the median of its connections, and what it answers is not
compared. Of one that runs already, `iotoll watch` says what its files cost.

Exit codes:
  0    it was tried
  1    it could not be tried, or ends differently when it runs again
  2    invalid usage or input
  4    a comparison has no verdict (--require-verdict)
  130  interrupted; what was measured so far has been reported";

/// Run a command with its files in RAM, or without syncs, and compare
#[derive(Args)]
#[command(after_help = TRY_EXAMPLES)]
#[command(after_long_help = format!("{TRY_EXAMPLES}\n\n{TRY_NOTES}"))]
pub(crate) struct TryArgs {
    /// Move this folder into RAM, too
    ///
    /// Without this, iotoll tries the folders in which the command spends 2% of its time or
    /// more. It can be given again.
    #[arg(long = "move", value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(help_heading = heading::WORKLOAD)]
    pub(crate) moved: Vec<PathBuf>,

    /// Run this before each run, untimed
    ///
    /// It works on the private copies, as the command does. With `make clean`, for example, each
    /// run builds everything.
    #[arg(long, value_name = "COMMAND", help_heading = heading::WORKLOAD)]
    pub(crate) setup: Option<String>,

    /// Run this after each run, to check its result
    #[arg(long, value_name = "COMMAND", help_heading = heading::WORKLOAD)]
    pub(crate) check: Option<String>,

    /// Do not compare stdout, or such files
    ///
    /// Write `stdout`, or a part of a path, as in `.log`. What already differs from run to run
    /// is not compared anyway. It can be given again.
    #[arg(long, value_name = "stdout|PART", help_heading = heading::WORKLOAD)]
    pub(crate) ignore: Vec<String>,

    /// Try this server, started by a shell
    #[arg(long, value_name = "COMMAND", help_heading = heading::WORKLOAD)]
    #[arg(requires = "ready", requires = "load", conflicts_with = "command")]
    pub(crate) serve: Option<String>,

    /// Where the server listens once it is ready
    #[arg(long, value_name = "URL", help_heading = heading::WORKLOAD, requires = "serve")]
    pub(crate) ready: Option<String>,

    /// Load the server: 'URL --rate N'
    ///
    /// Connections start N times a second, whatever the server does; --connections is how many
    /// each run has. [default: two seconds' worth]
    #[arg(long, value_name = "LOAD", help_heading = heading::WORKLOAD, requires = "serve")]
    pub(crate) load: Option<String>,

    /// Copy no more than this [default: 1GiB]
    ///
    /// Of a larger folder, only what the command changes is copied. If that is too much as well,
    /// nothing can be tried.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = heading::SAFETY)]
    pub(crate) copy_max: Option<u64>,

    /// Put copies in memory here [default: /dev/shm]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    #[arg(help_heading = heading::SAFETY)]
    pub(crate) ram: Option<PathBuf>,

    /// Stop after this time [default: at most 5min]
    ///
    /// By default there is time for ten rounds if they fit into a minute, else for five. Write it
    /// as 5min, 90s or 90.
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    #[arg(help_heading = heading::PRECISION)]
    pub(crate) budget: Option<Duration>,

    #[command(flatten)]
    pub(crate) rounds: RoundsArgs,

    /// Ignore smaller differences [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_threshold)]
    #[arg(help_heading = heading::PRECISION)]
    pub(crate) threshold: Option<f64>,

    /// Set the seed of the random order
    #[arg(long, value_name = "N", help_heading = heading::PRECISION)]
    pub(crate) seed: Option<u64>,

    /// See the calls by auto, ebpf, preload or ptrace
    ///
    /// `iotoll record --help` explains them. [default: auto]
    #[arg(long, value_parser = one_of(&MECHANISMS), default_value = "auto")]
    #[arg(value_name = "HOW", hide_default_value = true, hide_possible_values = true)]
    pub(crate) mechanism: Wanted,

    /// Print how to apply each change, and how to undo it
    ///
    /// iotoll changes nothing by itself.
    #[arg(long, help_heading = heading::OUTPUT)]
    pub(crate) apply: bool,

    /// Write the result as JSON
    ///
    /// With - as FILE, print it in place of the report.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = heading::OUTPUT)]
    pub(crate) json: Option<PathBuf>,

    /// Show a single line while it runs
    #[arg(long, short, help_heading = heading::OUTPUT)]
    pub(crate) quiet: bool,

    /// Exit with 4 if anything is undecided
    #[arg(long, help_heading = heading::CI)]
    pub(crate) require_verdict: bool,

    /// Run this command, with its arguments
    #[arg(value_name = "COMMAND", required_unless_present = "serve", trailing_var_arg = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

pub(crate) fn run(args: &TryArgs) -> anyhow::Result<Exit> {
    trying::run(args)
}
