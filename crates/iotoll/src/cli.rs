//! The command line: one definition for parsing, help, completions and man page.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use model::place::PlaceRequest;
use model::plan::parse_budget;
use model::study::parse_worth;

use crate::load::{LayoutArg, LoadArgs};

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    could not be done
  2    wrong usage or input
  3    a study found broken data
  4    --require-verdict, and a comparison has none
  130  interrupted; what was measured so far has been reported";

const COMPARE_EXAMPLES: &str = "\
Examples:
  iotoll compare                                this directory against RAM
  iotoll compare disk=/var/log ram=/dev/shm --study log
  iotoll compare data=/srv --study log          one place: the strategies alone
  iotoll compare --set log.sync=each            what fsync on every record costs
  iotoll compare --study serve                  as a web server's users feel it
  iotoll compare --plan plan.toml --json -      a plan file, the result as JSON";

const SELFTEST_NOTES: &str = "\
Compares each place with itself many times, where any difference found is a
false one; plants a slow-down of 10% and looks for it; works out the smallest
difference that 60 seconds could show; and names what makes the machine noisy.

Exit codes:
  0    verdicts from this machine, as it is now, can be trusted
  1    they cannot, or the test could not be done; the report says why
  2    wrong usage or input
  130  interrupted; what was found so far has been reported";

/// What file I/O costs your application, and whether moving it would pay.
#[derive(Parser)]
#[command(name = "iotoll", version, max_term_width = 80, after_help = EXIT_CODES)]
#[command(propagate_version = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Measure file I/O on places side by side, and say what differs
    Compare(CompareArgs),
    /// Load an HTTP server, in an open loop, and say what its users would see
    Load(Box<LoadArgs>),
    /// Show what places stand on
    Places(PlacesArgs),
    /// Print a saved result as it was printed then
    Show(ShowArgs),
    /// List the studies with their strategies and parameters
    Studies,
    /// Find out whether verdicts from this machine can be trusted
    Selftest(SelftestArgs),
    /// Remove the working folders that killed runs left in places
    Clean(PlacesArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print a manual page, for `man -l -`
    Man(ManArgs),
    /// Serve a run as one of its writers, on standard input and output
    #[command(name = "__worker", hide = true)]
    Worker,
    /// Serve a run as the server that it loads
    #[command(name = studies::SERVE_COMMAND, hide = true)]
    Serve {
        /// What is to be served, as JSON
        duty: String,
    },
}

#[derive(Args)]
#[command(after_help = format!("{COMPARE_EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct CompareArgs {
    /// The places, the first as the base [default: disk=. ram=/dev/shm]
    #[arg(value_name = "LABEL=PATH")]
    pub(crate) places: Vec<PlaceRequest>,

    /// Time these studies alone
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) study: Vec<String>,

    /// Time these strategies alone, the first as the base
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) strategy: Vec<String>,

    /// Set a parameter; several values make an arm each
    #[arg(long, value_name = "STUDY.KEY=VALUE[,VALUE...]")]
    pub(crate) set: Vec<String>,

    /// Read places, studies and parameters from a plan file; flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    /// The smallest difference that you care about [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_worth)]
    pub(crate) worth: Option<f64>,

    /// How long it may take at the most [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,

    /// Make the random order from this number [default: a new one]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Write the result as JSON; - is standard output, in place of the report
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Show what would be measured, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Exit with 4 where a comparison stays without a verdict
    #[arg(long)]
    pub(crate) require_verdict: bool,
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// What --json has written
    pub(crate) file: PathBuf,

    /// Of a comparison: decide anew with another smallest difference that matters
    #[arg(long, value_name = "SHARE", value_parser = parse_worth)]
    pub(crate) worth: Option<f64>,

    /// Of a load: how to print it
    #[arg(long, value_enum, default_value_t = LayoutArg::Plain)]
    pub(crate) layout: LayoutArg,
}

#[derive(Args)]
#[command(after_help = SELFTEST_NOTES)]
pub(crate) struct SelftestArgs {
    /// The places, which share the time [default: disk=.]
    #[arg(value_name = "LABEL=PATH")]
    pub(crate) places: Vec<PlaceRequest>,

    /// How long it may take [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,

    /// Make all that is random from this number [default: a new one]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Write the result as JSON; - is standard output, in place of the report
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PlacesArgs {
    /// The places [default: disk=. ram=/dev/shm]
    #[arg(value_name = "LABEL=PATH")]
    pub(crate) places: Vec<PlaceRequest>,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The command that the page is about; none for iotoll itself
    pub(crate) command: Option<String>,
}
