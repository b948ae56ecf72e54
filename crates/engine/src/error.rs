//! Why a slice failed, in words that say what to do.

use std::io;

use rustix::io::Errno;
use thiserror::Error;

/// Why a slice ended early.
#[derive(Debug, Error)]
pub enum StudyError {
    /// A system call failed.
    #[error("{doing}: {source}{}", advice(source))]
    Io {
        /// What was being done: "appending to the log".
        doing: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A write took less than it was given.
    #[error(
        "{doing}: only {written} of {wanted} bytes were written; the place may be full, or a file \
         size limit may be in force: see `ulimit -f`"
    )]
    Short {
        /// What was being done.
        doing: &'static str,
        /// Bytes taken.
        written: usize,
        /// Bytes given.
        wanted: usize,
    },
    /// A file has less than was put into it.
    #[error("{doing}: the file ended after {got} of {wanted} bytes; did something else change it?")]
    Ended {
        /// What was being done.
        doing: &'static str,
        /// Bytes that were there.
        got: usize,
        /// Bytes that should be.
        wanted: usize,
    },
    /// A library that the study drives could not do its part.
    #[error("{doing}: {why}")]
    Refused {
        /// What was being done.
        doing: &'static str,
        /// What the library said, and what to do.
        why: String,
    },
    /// The strategy and the parameters or the machine do not go together.
    #[error("{0}")]
    Unsuited(String),
    /// A worker in another thread or process could not do its work.
    #[error("{0}")]
    Worker(String),
    /// The run must end before this slice, and why.
    #[error("{0}")]
    Enough(String),
    /// The run was interrupted.
    #[error("stopped")]
    Stopped,
}

impl From<process::Error> for StudyError {
    fn from(error: process::Error) -> Self {
        match error {
            process::Error::Stopped => Self::Stopped,
            process::Error::Unsuited(why) => Self::Unsuited(why),
            process::Error::WorkerNotStarted { ref source, .. } => {
                Self::Worker(format!("{error}{}", advice(source)))
            }
            _ => Self::Worker(error.to_string()),
        }
    }
}

/// What to do about an error of the system, to be put behind it.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space there or choose another place",
        io::ErrorKind::QuotaExceeded => {
            "; the quota is used up: free some space or choose another place"
        }
        io::ErrorKind::FileTooLarge => "; a limit on file sizes is in force: see `ulimit -f`",
        io::ErrorKind::ReadOnlyFilesystem => {
            "; the file system has become read-only: see the kernel log (dmesg)"
        }
        _ => match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::MFILE) => "; too many open files: see `ulimit -n`",
            Some(Errno::IO | Errno::UCLEAN) => {
                "; the device or its file system failed: see the kernel log (dmesg)"
            }
            Some(Errno::NOMEM) => {
                "; memory is short, or the device under a file system failed: see the kernel log \
                 (dmesg)"
            }
            _ => "",
        },
    }
}

/// Gives a failed system call its context.
pub trait Doing<T> {
    /// Says what was being done.
    fn doing(self, doing: &'static str) -> Result<T, StudyError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, doing: &'static str) -> Result<T, StudyError> {
        self.map_err(|e| StudyError::Io { doing, source: e.into() })
    }
}
