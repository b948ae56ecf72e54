//! Why something cannot be written, each in a sentence that says what to do.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an output cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutputError {
    /// What is there, or is not, and what to do.
    #[error("{0}")]
    Refused(String),
    /// No file can be made in the directory.
    #[error("cannot create a temporary file in its directory {}: {source}", directory.display())]
    NoTemporary {
        /// Which.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else that the system says.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl OutputError {
    pub(super) fn directory() -> Self {
        Self::refused("it is a directory; name a file")
    }

    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }
}
