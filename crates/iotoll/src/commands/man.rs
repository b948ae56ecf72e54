//! `iotoll man`, made from the command line's definition.

use clap::{Args, Command};

use model::study::nearest;

use crate::cli::Offered;
use crate::exit::{Exit, UsageError};
use crate::terminal::output;

/// Print a manual page
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    iotoll man | man -l -                 read the page of iotoll\n  \
    iotoll man compare > iotoll-compare.1")]
pub(crate) struct ManArgs {
    /// Document this command [default: iotoll]
    #[arg(value_parser = Offered::of(commands), hide_possible_values = true)]
    command: Option<String>,
}

fn commands() -> Vec<String> {
    super::names().map(str::to_owned).collect()
}

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<Exit> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command(args.command.as_deref())?).render(&mut page)?;
    output::result(&String::from_utf8(page)?)?;
    Ok(Exit::Done)
}

/// iotoll itself, or one of its commands under its full name.
fn command(name: Option<&str>) -> Result<Command, UsageError> {
    let mut whole = super::command_line();
    whole.build();
    let Some(name) = name else { return Ok(whole) };
    let found = whole.find_subcommand(name).cloned();
    let found = found.ok_or_else(|| {
        let near = nearest(name, super::names());
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        UsageError(format!("no command `{name}`{near} (`iotoll --help` lists them)"))
    })?;
    Ok(found.name(format!("iotoll-{name}")))
}
