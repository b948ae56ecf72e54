//! What is wrong with a command line, in clap's words.

use std::error::Error as _;
use std::process::ExitCode;

use clap::Error;
use clap::error::{ContextKind, ContextValue};
use model::printable::printable;

use crate::exit::Exit;
use crate::terminal::output;

/// Prints what is wrong, or the help that was asked for.
pub(crate) fn explained(mut error: Error) -> ExitCode {
    if !error.use_stderr() {
        error.exit();
    }
    // A shell's pattern names files of others, whose names may have several lines.
    let given: Vec<(ContextKind, ContextValue)> =
        error.context().map(|(kind, value)| (kind, in_one_line(value))).collect();
    for (kind, value) in given {
        error.insert(kind, value);
    }
    let mut text = error.render().ansi().to_string();
    if let Some(why) = error.source().map(ToString::to_string) {
        text = text.replace(&why, &printable(&why));
    }
    output::aside(|_| text);
    Exit::Usage.into()
}

fn in_one_line(value: &ContextValue) -> ContextValue {
    let printed = |text: &String| printable(text).into_owned();
    match value {
        ContextValue::String(text) => ContextValue::String(printed(text)),
        ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(printed).collect()),
        other => other.clone(),
    }
}
