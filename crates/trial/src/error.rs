//! Why something could not be tried, in words that say what to do.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why something could not be tried.
#[derive(Debug, Error)]
pub enum Error {
    /// A file or a folder could not be acted on.
    #[error("{doing} {path}: {error}", path = path.display())]
    File {
        /// What was being done: "copying".
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// The private view of the files could not be made.
    #[error("cannot give the command a private view of its files: {0}")]
    View(String),
    /// A command of `--setup` or `--check` failed.
    #[error("{0}")]
    Shell(String),
    /// The command may change more than is copied.
    #[error(
        "the command may change more than {limit} in {path}, which is as much as is copied; \
         allow more with --copy-max, if there is room for it",
        limit = units::rough_size(*limit_bytes),
        path = path.display()
    )]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// What is copied at the most.
        limit_bytes: u64,
    },
    /// A process could not be started or ended.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// A working folder could not be made or removed.
    #[error(transparent)]
    WorkDir(#[from] places::WorkDirError),
    /// It was told to end.
    #[error("stopped")]
    Stopped,
}

/// Gives a failed system call what was being done, and to what.
pub(crate) trait At<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|error| Error::File { doing, path: path.to_owned(), error: error.into() })
    }
}
