//! Where a result goes, found out before anything is measured.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use places::{Output, OutputError, Readers};

use crate::exit::UsageError;
use crate::terminal::output;

/// Where a result goes.
pub(crate) enum Destination {
    /// Standard output, in place of the report.
    Stdout,
    /// Anything else, under the name that its user gave it.
    Output(PathBuf, Box<Output>),
}

impl Destination {
    /// Finds out what the target is and whether it may be written, so that a wrong path is
    /// reported before the run and not after. Nothing is made or changed by that.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        match Output::find(path, Readers::Usual) {
            Ok(output) if output.is_stdout() => Ok(Self::Stdout),
            Ok(output) => Ok(Self::Output(path.to_owned(), Box::new(output))),
            Err(error) => {
                let needs_none = matches!(error, OutputError::NoTemporary { .. });
                let advice = if needs_none { "; `--json - >FILE` does not need one" } else { "" };
                let path = path.display();
                let why = format!("cannot write the result to {path}: {error}{advice}");
                Err(UsageError(why).into())
            }
        }
    }

    /// Opens a file whose name has one of these endings, or none.
    pub(crate) fn open_named(path: &Path, endings: &[&str]) -> anyhow::Result<Self> {
        if let Some(ending) = path.extension()
            && endings.iter().all(|known| ending != *known)
        {
            let (path, known) = (path.display(), endings.join(" or ."));
            let why = format!("{path}: the name of the file ends in .{known}");
            return Err(UsageError(why).into());
        }
        Self::open(path)
    }

    /// Whether it takes the report's place.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// The file that is made or replaced.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Stdout => None,
            Self::Output(_, output) => output.file(),
        }
    }

    /// Writes the result, and says where it is unless that is standard output.
    pub(crate) fn write_and_tell(
        self,
        content: &[u8],
        told: impl FnOnce(&str) -> String,
    ) -> anyhow::Result<()> {
        let file = match &self {
            Self::Stdout => None,
            Self::Output(path, _) => Some(path.display().to_string()),
        };
        self.write(content)?;
        if let Some(file) = file {
            output::note(&told(&file));
        }
        Ok(())
    }

    /// Writes the result. A reader that goes away before it has read all has had enough.
    pub(crate) fn write(self, content: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Stdout => output::print(io::stdout().lock(), content),
            Self::Output(path, target) => {
                let failed = failed(&path, &target);
                let written = match target.write(content) {
                    Err(OutputError::Io(error)) => {
                        output::unless_gone(Err(error)).map_err(OutputError::Io)
                    }
                    written => written,
                };
                written.context(failed)
            }
        }
    }
}

/// What to say where it cannot be written.
fn failed(path: &Path, target: &Output) -> String {
    let Some(file) = target.file() else {
        return format!("cannot write the result to {}", path.display());
    };
    let what = if target.replaces() { "was left unchanged" } else { "was not created" };
    format!("cannot save the result: {} {what}", file.display())
}
