//! `iotoll man`, made from the command line's definition.

use clap::{Args, Command, CommandFactory as _};

use super::Cli;
use crate::exit::{Exit, UsageError};
use crate::terminal::output;

/// Print a manual page, for `man -l -`
#[derive(Args)]
pub(crate) struct ManArgs {
    /// The command to document [default: iotoll itself]
    command: Option<String>,
}

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command(args.command.as_deref())?).render(&mut page)?;
    output::result(&String::from_utf8(page)?)?;
    Ok(Exit::Done)
}

/// iotoll itself, or one of its commands under its full name.
fn command(name: Option<&str>) -> Result<Command, UsageError> {
    let mut whole = Cli::command();
    whole.build();
    let Some(name) = name else { return Ok(whole) };
    let found = whole.find_subcommand(name).cloned();
    let found =
        found.ok_or_else(|| UsageError(format!("no command `{name}`; see `iotoll --help`")))?;
    Ok(found.name(format!("iotoll-{name}")))
}
