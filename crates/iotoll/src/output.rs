//! Everything that is printed goes through here: results to standard output,
//! all else to standard error, styles only where they are wanted.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use model::document;
use serde::Serialize;

use crate::exit::UsageError;

/// Columns to write for: the terminal's, within reason, and 80 elsewhere.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(io::stdout());
    terminal.map_or(report::terminal::WIDTH, |(width, _)| usize::from(width.0).clamp(40, 100))
}

/// Prints a result.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints a message that is not part of the result.
pub(crate) fn note(text: &str) {
    // There is nowhere left to report that this failed.
    let _ = writeln!(anstream::stderr().lock(), "iotoll: {text}");
}

/// Prints a report and writes the same as JSON where that is asked for: to a file,
/// or to standard output in place of the report.
pub(crate) fn report(
    json: Option<JsonTarget>,
    document: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    if !matches!(json, Some(JsonTarget::Stdout)) {
        result(&report(width()))?;
    }
    json.map_or(Ok(()), |json| json.write(document))
}

/// Where the JSON goes.
pub(crate) enum JsonTarget {
    /// Standard output, in place of the report.
    Stdout,
    /// A file, opened before anything is measured.
    File(PathBuf, File),
}

impl JsonTarget {
    /// Opens the target, so that a wrong path is reported before the run and not after.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        let file = File::options().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|e| {
            UsageError(format!("cannot write the result to {}: {e}", path.display()))
        })?;
        Ok(Self::File(path.to_owned(), file))
    }

    /// Writes the result.
    fn write(self, result: &impl Serialize) -> anyhow::Result<()> {
        let mut json = Vec::new();
        document::write(result, &mut json).context("writing the result as JSON")?;
        json.push(b'\n');
        match self {
            Self::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(&json)?;
                Ok(out.flush()?)
            }
            Self::File(path, mut file) => file
                .set_len(0)
                .and_then(|()| file.write_all(&json))
                .with_context(|| format!("writing the result to {}", path.display())),
        }
    }
}
