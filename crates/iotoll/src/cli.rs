//! The command line: one definition for parsing, help, completions and man page.

mod load;
mod outputs;
mod recording;
mod reproduce;
mod runs;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use engine::run_limits::{RunLimits, WRITE_LIMIT_BYTES};
use model::place_argument::PlaceArgument;
use model::plan::{parse_budget, parse_per_second};
use model::study::{parse_error_rate, parse_threshold};
use units::parse_size;

pub(crate) use self::load::{GapArg, HttpArg, LayoutArg, LoadArgs, Rate};
pub(crate) use self::outputs::{Form, OutputArgs};
pub(crate) use self::recording::{HowArgs, MechanismArg, RecordArgs, WatchArgs};
pub(crate) use self::reproduce::ReproduceArgs;
pub(crate) use self::runs::{DiffArgs, HistoryArgs, PruneArgs, RerunArgs, ShareArgs};

/// The hidden command that calibrates a recorder.
pub(crate) const TIME_CALLS: &str = "__time-calls";

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    failure
  2    invalid usage or input
  3    a study found corrupted data
  4    --require-verdict was given and a comparison has no verdict
  5    --baseline was given and an arm is slower than in that run
  130  interrupted; what was measured so far has been reported";

const COMPARE_EXAMPLES: &str = "\
Examples:
  iotoll compare                                this directory against RAM
  iotoll compare /var/log /dev/shm --study log  two places
  iotoll compare /srv --study log               one place: compare strategies
  iotoll compare . ram=tmpfs:1G image:xfs:1G    places created for the run
  iotoll compare --set log.sync=each            what fsync on every record costs
  iotoll compare --study serve                  latency as web users see it
  iotoll compare --plan plan.toml --json -      a plan file, the result as JSON";

const SELFTEST_NOTES: &str = "\
Compares each place with itself many times, where any difference found is
false; slows one side down by exactly 10% (in writing, in syncing, in cold
reading, and by stalls) and checks that the intervals contain it; estimates the
smallest difference that a 60-second run can detect; and lists the sources of
noise.

Exit codes:
  0    verdicts from this machine, as it is now, can be trusted
  1    they cannot, or the test failed; the report says why
  2    invalid usage or input
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
    /// Measure file I/O on several places and report what differs
    Compare(Box<CompareArgs>),
    /// Load an HTTP server in an open loop and report what its users would see
    Load(Box<LoadArgs>),
    /// Run a command and record its file calls: what they cost, and what could be saved
    Record(RecordArgs),
    /// Record the file calls of a running process
    Watch(WatchArgs),
    /// Show what each place stands on, with where that was read
    Places(PlacesArgs),
    /// Print the report of a saved result
    Show(ShowArgs),
    /// List the saved runs, the latest first
    History(HistoryArgs),
    /// Say what changed from one run to another, arm by arm
    Diff(DiffArgs),
    /// Measure again what a saved run measured, with its plan and seed
    Rerun(Box<RerunArgs>),
    /// Repeat a published measurement, and say whether its conclusions hold here
    Reproduce(Box<ReproduceArgs>),
    /// Remove saved runs
    Prune(PruneArgs),
    /// Write a saved result as one file to post, without paths and names
    Share(ShareArgs),
    /// Write the report of one or several saved results as one file with charts
    Report(ReportArgs),
    /// List the studies with their strategies and parameters
    Studies,
    /// Find out whether verdicts from this machine can be trusted
    Selftest(SelftestArgs),
    /// Remove the working folders that killed runs left in places
    Clean(CleanArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print a manual page, for `man -l -`
    Man(ManArgs),
    /// Run as a worker of a run, on standard input and output
    #[command(name = "__worker", hide = true)]
    Worker,
    /// Make calls for a recorder to be calibrated by
    #[command(name = TIME_CALLS, hide = true)]
    TimeCalls {
        /// How many in each round
        calls: u32,
    },
    /// Run as the server that the study `serve` loads, as standard input describes it
    #[command(name = studies::SERVE_COMMAND, hide = true)]
    Serve,
}

#[derive(Args, Default)]
#[command(after_help = format!("{COMPARE_EXAMPLES}\n\n{EXIT_CODES}"))]
// Each is a flag of the command line.
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct CompareArgs {
    /// The places; the first is the base. A path by itself is labelled by its last part;
    /// tmpfs:SIZE, image:FS:SIZE, zram:SIZE and overlay:PATH are created for the run
    /// [default: disk=. ram=/dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    pub(crate) places: Vec<PlaceArgument>,

    /// Run only these studies
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) study: Vec<String>,

    /// Run only these strategies; the first is the base
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) strategy: Vec<String>,

    /// Set a parameter; each of several values makes an arm. Given again for the same
    /// parameter, it adds values
    #[arg(long, value_name = "STUDY.KEY=VALUE[,VALUE...]")]
    pub(crate) set: Vec<String>,

    /// Read places, studies and parameters from a plan file; flags override it
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    /// Agree to the commands, files and created places that the plan file brings
    #[arg(long, requires = "plan")]
    pub(crate) allow_commands: bool,

    /// The smallest relative difference that matters, as in 10% or 10 [default: 5%]
    #[arg(long, alias = "worth", value_name = "SHARE", value_parser = parse_threshold)]
    pub(crate) threshold: Option<f64>,

    /// The share of runs in which a verdict may be wrong, each by itself; for K verdicts
    /// that must all be right, 5% divided by K [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = parse_error_rate)]
    pub(crate) error_rate: Option<f64>,

    /// The longest that the run may take, as in 5min, 90s or 90 [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,

    /// End after so many blocks, decided or not: each has every arm once, or twice where
    /// there are two
    #[arg(long, value_name = "N")]
    pub(crate) blocks: Option<NonZeroU32>,

    /// How many operations a second your application does, in all studies or in one: says
    /// what a change is worth to you
    #[arg(long, value_name = "[STUDY=]N")]
    pub(crate) per_second: Vec<String>,

    /// Seed of the random order [default: random]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// While it runs, show one line on a terminal and nothing elsewhere
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

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

    /// Say on standard error when each block is complete and kept
    #[arg(long, hide = true)]
    pub(crate) tell_blocks: bool,
}

impl CompareArgs {
    /// How the machine and its neighbours are treated.
    pub(crate) fn run_limits(&self) -> RunLimits {
        let write_limit_bytes = self.write_limit.unwrap_or(WRITE_LIMIT_BYTES);
        RunLimits { write_limit_bytes, gentle: self.gentle }
    }
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    /// A file written by --json or --html, the trace of a recording, or a saved run: the beginning
    /// of its name, `last`, or `last~1` for the one before [default: last]
    #[arg(value_name = "FILE|RUN")]
    pub(crate) run: Option<PathBuf>,

    /// For a comparison: decide again with this smallest difference
    #[arg(long, alias = "worth", value_name = "SHARE", value_parser = parse_threshold)]
    pub(crate) threshold: Option<f64>,

    /// For a comparison: decide again with this share of wrong verdicts
    #[arg(long, value_name = "SHARE", value_parser = parse_error_rate)]
    pub(crate) error_rate: Option<f64>,

    /// For a comparison: what a change is worth at so many operations a second
    #[arg(long, value_name = "N", value_parser = parse_per_second)]
    pub(crate) per_second: Option<f64>,

    /// For a run that repeats an article: show another run of it beside this one
    #[arg(long, value_name = "FILE|RUN")]
    #[arg(conflicts_with_all = ["full", "json", "csv", "openmetrics", "html", "markdown"])]
    pub(crate) beside: Option<PathBuf>,

    /// For a load: the layout of the report [default: plain]
    #[arg(long, value_enum)]
    pub(crate) layout: Option<LayoutArg>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Files written by --json or --html, or saved runs by the beginnings of their names;
    /// several are shown side by side [default: the last saved run]
    #[arg(value_name = "FILE|RUN")]
    pub(crate) runs: Vec<PathBuf>,

    /// Where to write it, as Markdown where the name ends in .md; - prints it [default:
    /// iotoll-RUN.html here]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = SELFTEST_NOTES)]
pub(crate) struct SelftestArgs {
    /// The places, which share the budget equally [default: disk=.]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    pub(crate) places: Vec<PlaceArgument>,

    /// The longest that the test may take, as in 5min, 90s or 90 [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub(crate) budget: Option<Duration>,

    /// Seed of everything random [default: random]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Write the result as JSON; - prints it instead of the report
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Do not keep the run for `iotoll show`
    #[arg(long)]
    pub(crate) no_save: bool,
}

#[derive(Args)]
pub(crate) struct PlacesArgs {
    /// The places [default: disk=. ram=/dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    pub(crate) places: Vec<PlaceArgument>,

    /// Write the facts as JSON; - prints it instead of the tree
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct CleanArgs {
    /// The places [default: disk=. ram=/dev/shm]
    #[arg(value_name = "[LABEL=]PATH", value_hint = ValueHint::DirPath)]
    pub(crate) places: Vec<PlaceArgument>,

    /// Remove those of other hosts, earlier boots and other containers as well, once you
    /// know that the runs named there have ended
    #[arg(long)]
    pub(crate) foreign: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The command to document [default: iotoll itself]
    pub(crate) command: Option<String>,
}
