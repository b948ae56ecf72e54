//! `iotoll completions` and `iotoll man`, made from the command line's definition.

use clap::{Command, CommandFactory as _};

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::exit::{Exit, UsageError};
use crate::output;

pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "iotoll", &mut script);
    output::result(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}

pub(crate) fn page(args: &ManArgs) -> anyhow::Result<Exit> {
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
