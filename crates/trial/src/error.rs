//! Why something could not be tried, in words that say what to do.

use std::path::{Path, PathBuf};
use std::{fmt, io};

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
    /// There is more than is copied.
    #[error("with {path}, copies would come to more than {limit}", path = path.display())]
    TooLarge {
        /// With what.
        path: PathBuf,
        /// What is copied at the most.
        limit: Limit,
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

/// What is copied at the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So much, which the user may raise.
    Bytes(u64),
    /// So many files and folders.
    Files(u64),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => {
                let size = units::rough_size(*bytes);
                write!(f, "{size}: allow more with --copy-max, if there is room for it")
            }
            Self::Files(files) => {
                write!(f, "{} files, and no more are copied", units::count(*files))
            }
        }
    }
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
