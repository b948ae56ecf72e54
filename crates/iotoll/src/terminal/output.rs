//! Everything that is printed goes through here: results to standard output,
//! all else to standard error, styles only where they are wanted.

use std::io::{self, ErrorKind, Write};

use anyhow::Context as _;
use model::printable::{printable_lines, without_commands};

/// Columns to write for: the terminal's, within reason, and 80 elsewhere.
pub(crate) fn width() -> usize {
    width_of(terminal_size::terminal_size_of(io::stdout()))
}

fn width_of(terminal: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    terminal.map_or(report::terminal::WIDTH, |(width, _)| usize::from(width.0).clamp(40, 200))
}

/// Prints a result, no line of which is a command to a build server.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    print(anstream::stdout().lock(), without_commands(text).as_bytes())
}

/// Prints commands to a build server.
pub(crate) fn commands(text: &str) -> anyhow::Result<()> {
    print(anstream::stdout().lock(), text.as_bytes())
}

/// Writes all of it to standard output.
pub(crate) fn print(mut stdout: impl Write, bytes: &[u8]) -> anyhow::Result<()> {
    let printed = stdout.write_all(bytes).and_then(|()| stdout.flush());
    unless_gone(printed).context("cannot print the result")
}

/// Whoever reads may go away, as `head` does: that is no error.
pub(crate) fn unless_gone(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Prints a text beside the output of another program, whose standard output is its own.
pub(crate) fn aside(text: impl FnOnce(usize) -> String) {
    let text = text(width_of(terminal_size::terminal_size_of(io::stderr())));
    // There is nowhere left to report that this failed.
    let _ = anstream::stderr().lock().write_all(without_commands(&text).as_bytes());
}

/// Prints a message that is not part of the result.
pub(crate) fn note(text: &str) {
    // There is nowhere left to report that this failed.
    let _ = writeln!(anstream::stderr().lock(), "iotoll: {}", printable_lines(text));
}
