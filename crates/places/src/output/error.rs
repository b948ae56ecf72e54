//! Why something cannot be written, each in a sentence that says what to do.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why an output cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The directory of the file is missing.
    #[error("there is no directory {}", .0.display())]
    NoDirectory(PathBuf),
    /// A directory has the name.
    #[error("it is a directory; name a file")]
    Directory,
    /// A block device or a socket has it.
    #[error("it is neither a file nor a pipe; name a file")]
    Kind,
    /// No file can be made in the directory.
    #[error("cannot create a temporary file in its directory {}: {source}", directory.display())]
    NoTemporary {
        /// Which.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// In a sticky directory, only the owner of a file may replace it.
    #[error("it belongs to another user, and only that user may replace it")]
    Sticky,
    /// Somebody else may have put it there to choose what is written.
    #[error("{} is {kind} {}; {}", path.display(), whose(*is_foreign), kind.advice())]
    Planted {
        /// Which.
        path: PathBuf,
        /// What it is.
        kind: PlantedKind,
        /// Whether it belongs to another user; else its directory is one that others change.
        is_foreign: bool,
    },
    /// A FIFO that nobody read.
    #[error("nothing was reading it for {0} s; start its reader first, or name a file")]
    Unread(u64),
    /// Anything else that the system says.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What can lead a writer elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedKind {
    /// A symbolic link.
    Link,
    /// A FIFO.
    Fifo,
    /// A character device.
    Device,
}

impl PlantedKind {
    fn advice(self) -> &'static str {
        match self {
            Self::Link => "name its target instead",
            Self::Fifo | Self::Device => "name a file, or use a directory that only you can change",
        }
    }
}

impl fmt::Display for PlantedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Link => "a symbolic link",
            Self::Fifo => "a FIFO",
            Self::Device => "a device",
        })
    }
}

fn whose(is_foreign: bool) -> &'static str {
    if is_foreign {
        "that belongs to another user"
    } else {
        "in a directory where other users can exchange it"
    }
}
