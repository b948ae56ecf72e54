//! `iotoll` measures what file I/O costs an application, and whether it would pay
//! to move it to other storage or to do it another way.
//!
//! One file per command. This crate alone prints, reads the command line and
//! decides exit codes.

mod analysed;
mod baseline;
mod billed;
mod clean;
mod cli;
mod clients;
mod compare;
mod confined;
mod consent;
mod delivery;
mod diff;
mod dry_run;
mod environment;
mod exit;
mod history;
mod identity;
mod stop_reason;

mod destination;
mod launched;
mod live;
mod load;
mod man;
mod originals;
mod output;
mod place_handle;
mod places_command;
mod plan;
mod preflight;
mod prepared_places;
mod programs;
mod progress;
mod prune;
mod quiet;
mod record;
mod recording;
mod report_command;
mod reproduce;
mod rerun;
mod saving;
mod selftest;
mod session;
mod share;
mod show;
mod signals;
mod source;
mod studies_command;
mod summaries;
mod trace_file;
mod usage;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) if launched::is_rank_zero() => return usage::explained(told),
        Err(_) => return launched::UNSPOKEN.into(),
    };
    let exit = exit::guarded(|| run(cli.command));
    for process in process::take_left_behind() {
        output::note(&process);
    }
    exit
}

fn run(command: Command) -> anyhow::Result<Exit> {
    signals::ignore_file_size_signal()?;
    Ok(match command {
        Command::Compare(args) => launched::compare(&args)?,
        Command::Load(args) => launched::alone("load", || load::run(&args))?,
        Command::Record(args) => record::run(&args)?,
        Command::Watch(args) => watch::run(&args)?,
        Command::Places(args) => places_command::run(&args)?,
        Command::Selftest(args) => launched::alone("selftest", || selftest::run(&args))?,
        Command::Show(args) => show::run(&args)?,
        Command::History(args) => history::run(&args)?,
        Command::Diff(args) => diff::run(&args)?,
        Command::Rerun(args) => launched::alone("rerun", || rerun::run(*args))?,
        Command::Prune(args) => prune::run(&args)?,
        Command::Share(args) => share::run(&args)?,
        Command::Reproduce(args) => launched::alone("reproduce", || reproduce::run(&args))?,
        Command::Report(args) => report_command::run(&args)?,
        Command::Studies => studies_command::run()?,
        Command::Clean(args) => clean::run(&args)?,
        Command::Completions(args) => man::completions(&args)?,
        Command::Man(args) => man::page(&args)?,
        Command::TimeCalls { calls } => recording::time_calls(calls)?,
        Command::Serve => {
            studies::serve_requests()?;
            Exit::Done
        }
        Command::Worker => {
            studies::serve_as_worker()?;
            Exit::Done
        }
    })
}
