//! The command line: one definition for parsing, help, completions and man pages.
//!
//! Each command has a file with its arguments and its `run`, and a line in the list below.

mod clean;
mod compare;
mod completions;
mod diff;
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
mod serve;
mod share;
mod show;
mod slices;
mod studies;
mod time_calls;
mod watch;
mod worker;

use clap::{Parser, Subcommand};

use crate::exit::{self, Exit};
use crate::measuring::launched;
use crate::recording::TIME_CALLS;

/// What file I/O costs your application, and whether moving it would pay.
#[derive(Parser)]
#[command(name = "iotoll", version, max_term_width = 80, after_help = exit::CODES)]
#[command(propagate_version = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

macro_rules! commands {
    (@run $module:ident $args:ident) => { $module::run($args) };
    (@run $module:ident $args:ident alone) => {
        launched::alone(stringify!($module), || $module::run($args))
    };
    ($($(#[$attribute:meta])* $name:ident($module:ident::$args:ident) $($alone:ident)?,)*) => {
        #[derive(Subcommand)]
        pub(crate) enum Command {
            $($(#[$attribute])* $name(Box<$module::$args>),)*
        }

        impl Command {
            pub(crate) fn run(&self) -> anyhow::Result<Exit> {
                match self {
                    $(Self::$name(args) => commands!(@run $module args $($alone)?),)*
                }
            }
        }
    };
}

// In the order of the help. A command's name follows from its own here unless it has another;
// `alone` are those that measure with one process, whatever MPI started.
commands! {
    Compare(compare::CompareArgs),
    Load(load::LoadArgs) alone,
    Record(record::RecordArgs),
    Watch(watch::WatchArgs),
    Places(places::PlacesArgs),
    Show(show::ShowArgs),
    History(history::HistoryArgs),
    Diff(diff::DiffArgs),
    Rerun(rerun::RerunArgs) alone,
    Reproduce(reproduce::ReproduceArgs) alone,
    Prune(prune::PruneArgs),
    Share(share::ShareArgs),
    Report(report::ReportArgs),
    Studies(studies::StudiesArgs),
    Selftest(selftest::SelftestArgs) alone,
    Clean(clean::CleanArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[command(name = "__worker")]
    Worker(worker::WorkerArgs),
    #[command(name = "__slices")]
    Slices(slices::SlicesArgs),
    #[command(name = TIME_CALLS)]
    TimeCalls(time_calls::TimeCallsArgs),
    #[command(name = ::studies::SERVE_COMMAND)]
    Serve(serve::ServeArgs),
}
