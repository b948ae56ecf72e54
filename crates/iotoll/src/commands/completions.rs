//! `iotoll completions`, made from the command line's definition.

use clap::Args;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::terminal::output;

/// Print shell completions
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    iotoll completions bash > ~/.local/share/bash-completion/completions/iotoll\n  \
    iotoll completions zsh > ~/.zfunc/_iotoll\n  \
    iotoll completions fish > ~/.config/fish/completions/iotoll.fish")]
pub(crate) struct CompletionsArgs {
    /// Complete for bash, zsh, fish, elvish or powershell
    #[arg(hide_possible_values = true)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command_line(), "iotoll", &mut script);
    output::result(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
