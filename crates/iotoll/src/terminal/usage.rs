//! What is wrong with a command line, in clap's words.

use std::error::Error as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use model::printable::printable;

use crate::cli::ColorArg;
use crate::exit::Exit;
use crate::terminal::output;

/// Prints what is wrong, or the help that was asked for. `commands` are all of them.
pub(crate) fn explained(mut error: Error, commands: &Command) -> ExitCode {
    ColorArg::of(std::env::args_os()).apply();
    if !error.use_stderr() {
        let help = format!("{}\n", error.render().ansi().to_string().trim_end());
        let printed = output::print(anstream::stdout().lock(), help.as_bytes());
        return if printed.is_ok() { Exit::Done } else { Exit::CouldNot }.into();
    }
    // A shell's pattern names files of others, whose names may have several lines.
    let given: Vec<(ContextKind, ContextValue)> =
        error.context().map(|(kind, value)| (kind, in_one_line(value))).collect();
    for (kind, value) in given {
        error.insert(kind, value);
    }
    leave_hidden_out(&mut error);
    let elsewhere = elsewhere(&error, commands);
    if elsewhere.is_some() {
        // It was no value.
        error.remove(ContextKind::Suggested);
    }
    let mut text = error.render().ansi().to_string();
    text += &elsewhere.unwrap_or_default();
    if let Some(why) = error.source().map(ToString::to_string) {
        text = text.replace(&why, &printable(&why));
    }
    output::aside(|_| text);
    Exit::Usage.into()
}

/// Suggests no command that iotoll starts of itself.
fn leave_hidden_out(error: &mut Error) {
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(names)) = error.remove(kind) {
        let shown: Vec<String> = names.into_iter().filter(|name| !name.starts_with("__")).collect();
        if !shown.is_empty() {
            error.insert(kind, ContextValue::Strings(shown));
        }
    }
}

/// Which commands have the flag that the given one has not.
fn elsewhere(error: &Error, commands: &Command) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = given.split('=').next().and_then(|given| given.strip_prefix("--"))?;
    let has_it = |command: &&Command| {
        let mut flags = command.get_arguments().filter(|flag| !flag.is_hide_set());
        flags.any(|known| known.get_long_and_visible_aliases().is_some_and(|l| l.contains(&flag)))
    };
    let having = commands.get_subcommands().filter(|command| !command.is_hide_set()).filter(has_it);
    let names: Vec<&str> = having.map(Command::get_name).collect();
    let (first, other) = (names.first()?, if names.len() > 1 { "s" } else { "" });
    let names = names.join(", ");
    Some(format!("\n--{flag} is a flag of the command{other} {names}: see `iotoll {first} -h`.\n"))
}

fn in_one_line(value: &ContextValue) -> ContextValue {
    let printed = |text: &String| printable(text).into_owned();
    match value {
        ContextValue::String(text) => ContextValue::String(printed(text)),
        ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(printed).collect()),
        other => other.clone(),
    }
}
