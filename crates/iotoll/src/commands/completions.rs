//! `iotoll completions`, made from the command line's definition.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;
use crate::exit::Exit;
use crate::terminal::output;

/// Print shell completions
#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "iotoll", &mut script);
    output::result(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
