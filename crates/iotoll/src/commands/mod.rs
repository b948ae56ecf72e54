//! The command line: one definition for parsing, help, completions and man pages.
//!
//! Each command has a file with its arguments and its `run`, and a line in the list below.

mod bench;
mod chart;
mod check;
mod clean;
mod compare;
mod completions;
mod diff;
mod hidden;
mod history;
mod load;
mod man;
mod places;
mod prune;
mod record;
mod report;
mod reproduce;
mod rerun;
mod selftest;
mod share;
mod show;
mod studies;
mod r#try;
mod watch;

use std::fmt::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use self::r#try::TryArgs;
use crate::cli::{ColorArg, version};
use crate::exit::{self, Exit};
use crate::measuring::launched;

const EXAMPLES: &str = "\
Examples:
  iotoll compare                    this directory against RAM
  iotoll record -- COMMAND          the file calls of a command
  iotoll help compare               all flags of a command";

/// Measure what file I/O costs your application, and whether moving it would pay.
#[derive(Parser)]
#[command(name = "iotoll", version, long_version = version(), max_term_width = 80)]
#[command(propagate_version = true)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", exit::CODES))]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Color the output: auto, always or never
    ///
    /// By default, color it on a terminal, unless `NO_COLOR` is set. [default: auto]
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub(crate) color: ColorArg,
}

/// The command line, for parsing, help, completions and man pages.
pub(crate) fn command_line() -> clap::Command {
    let command = Cli::command();
    let overview = overview(&command);
    command.help_template(overview)
}

/// Reads the command line.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command_line().try_get_matches()?)
}

/// The names of the commands, but for hidden ones.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS
        .iter()
        .filter(|(heading, _)| !heading.is_empty())
        .flat_map(|(_, names)| *names)
        .map(|name| name.trim_start_matches(RAW))
}

/// The prefix of a module whose name is a keyword of Rust.
const RAW: &str = "r#";

/// What is printed of iotoll itself: its commands in groups, which clap does not know.
fn overview(command: &clap::Command) -> String {
    let heading = command.get_styles().get_header();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (name, commands) in GROUPS.iter().filter(|(name, _)| !name.is_empty()) {
        let _ = write!(text, "\n{heading}{name}:{heading:#}\n");
        for name in commands.iter().map(|name| name.trim_start_matches(RAW)) {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map_or_else(|| HELP.to_owned(), ToString::to_string);
            let _ = writeln!(text, "  {name:<12} {about}");
        }
    }
    let _ = write!(text, "\n{heading}Options:{heading:#}\n{{options}}{{after-help}}");
    text
}

/// What clap's own command does.
const HELP: &str = "Print the help of a command";

macro_rules! commands {
    (@run $module:ident $args:ident) => { $module::run($args) };
    (@run $module:ident $args:ident alone) => {
        launched::alone(stringify!($module), || $module::run($args))
    };
    ($($heading:literal $(with $more:literal)? {
        $($(#[$attribute:meta])* $name:ident($module:ident::$args:ident) $($alone:ident)?,)*
    })*) => {
        #[derive(Subcommand)]
        pub(crate) enum Command {
            $($($(#[$attribute])* $name(Box<$module::$args>),)*)*
        }

        impl Command {
            pub(crate) fn run(&self) -> anyhow::Result<Exit> {
                match self {
                    $($(Self::$name(args) => commands!(@run $module args $($alone)?),)*)*
                }
            }
        }

        /// The commands under their headings; hidden ones have none.
        const GROUPS: &[(&str, &[&str])] = &[
            $(($heading, &[$(stringify!($module),)* $($more)?]),)*
        ];
    };
}

// In the order of the help. A command is named as its module unless it has another name here;
// `alone` are those that measure with one process, whatever MPI started.
commands! {
    "Measure" {
        Compare(compare::CompareArgs),
        Check(check::CheckArgs) alone,
        Bench(bench::BenchArgs) alone,
        Load(load::LoadArgs) alone,
        Reproduce(reproduce::ReproduceArgs) alone,
        Selftest(selftest::SelftestArgs) alone,
    }
    "Your application" {
        Try(r#try::TryArgs) alone,
        Record(record::RecordArgs),
        Watch(watch::WatchArgs),
    }
    "Results" {
        Show(show::ShowArgs),
        Report(report::ReportArgs),
        Chart(chart::ChartArgs),
        History(history::HistoryArgs),
        Diff(diff::DiffArgs),
        Rerun(rerun::RerunArgs) alone,
        Share(share::ShareArgs),
        Prune(prune::PruneArgs),
    }
    "Maintenance" with "help" {
        Places(places::PlacesArgs),
        Studies(studies::StudiesArgs),
        Clean(clean::CleanArgs),
        Completions(completions::CompletionsArgs),
        Man(man::ManArgs),
    }
    "" {
        #[command(flatten)]
        Hidden(hidden::Hidden),
    }
}
