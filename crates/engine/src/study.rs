//! What a study must do to be timed.
//!
//! A [`Study`] turns an arm's strategy and parameters into a [`Workload`], which is the
//! arm's for the whole run. Each of its slices goes through four states, each made from
//! the one before: [`Prepared`], [`Ready`], [`Ran`], and the [`Outcome`] once it is
//! finished. None of these traits has a method with a body of its own, so that what
//! wraps a workload cannot forget to pass one on.

use std::io;
use std::os::fd::BorrowedFd;

use model::slice::Outcome;
use model::study::{Params, StudySpec};
use thiserror::Error;

use crate::recorder::Recorder;

/// One kind of application I/O that can be timed.
pub trait Study: Sync {
    /// Its name, strategies and parameters.
    fn spec(&self) -> &'static StudySpec;

    /// Understands an arm's strategy and parameters.
    ///
    /// # Errors
    /// Where they do not go together, or cannot be timed here, as far as can be seen
    /// before anything is made.
    fn workload(&self, strategy: &str, params: &Params) -> Result<Box<dyn Workload>, StudyError>;
}

/// One arm's work: its parameters, and what it keeps from slice to slice.
pub trait Workload {
    /// How many operations a slice may have.
    fn operations(&self) -> Operations;

    /// Whether what a slice leaves behind makes the next one faster. Where each
    /// starts everything anew there is no warming up.
    fn warms_up(&self) -> bool;

    /// The most that one slice of so many operations leaves in the folder, in bytes.
    fn space_bytes(&self, operations: u64) -> u64;

    /// Makes, outside the clock, what every slice needs in its fresh and empty folder,
    /// however many operations it has.
    ///
    /// # Errors
    /// Where that cannot be made.
    fn prepare<'a>(
        &'a mut self,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, StudyError>;
}

/// A slice whose folder is prepared.
pub trait Prepared {
    /// Makes ready, outside the clock, for so many operations.
    ///
    /// # Errors
    /// Where that cannot be done.
    fn ready<'a>(
        self: Box<Self>,
        operations: u64,
        recorder: &Recorder,
    ) -> Result<Box<dyn Ready + 'a>, StudyError>
    where
        Self: 'a;
}

/// A slice that has everything it needs.
pub trait Ready {
    /// Does the operations under the clock, one [`Recorder::lap`] after each.
    ///
    /// # Errors
    /// Where an operation fails, or the run was told to end.
    fn run<'a>(self: Box<Self>, recorder: &mut Recorder) -> Result<Box<dyn Ran + 'a>, StudyError>
    where
        Self: 'a;
}

/// A slice whose operations are done.
pub trait Ran {
    /// Forces what the slice left unwritten to the device.
    ///
    /// # Errors
    /// Where that fails.
    fn flush(&mut self) -> Result<(), StudyError>;

    /// Reads back what was written, accounts for every record, and lets go of all
    /// that the slice held, outside the clock.
    ///
    /// # Errors
    /// Where the data cannot be read; broken data is part of the outcome.
    fn finish(self: Box<Self>) -> Result<Outcome, StudyError>;
}

/// How many operations a slice may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    /// A slice has a multiple of this many, so that work done once in so many
    /// operations is in every slice in its due share.
    pub granule: u64,
    /// A slice has no more than this.
    pub max: u64,
}

impl Operations {
    /// Always the same number.
    pub fn exactly(operations: u64) -> Self {
        Self { granule: operations, max: operations }
    }

    /// The nearest number that a slice may have.
    pub fn fit(self, wanted: f64) -> u64 {
        let granules = (wanted / self.granule as f64).round().max(1.0) as u64;
        granules.saturating_mul(self.granule).min(self.max.max(self.granule))
    }
}

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
        "{doing}: only {written} of {wanted} bytes were taken; the place may be full, \
             or a limit on file sizes in force: see `ulimit -f`"
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
    /// The run was told to end.
    #[error("stopped")]
    Stopped,
}

impl From<process::Error> for StudyError {
    fn from(error: process::Error) -> Self {
        match error {
            process::Error::Stopped => Self::Stopped,
            process::Error::NotInstalled { .. } => Self::Unsuited(error.to_string()),
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
        io::ErrorKind::ReadOnlyFilesystem => "; the file system has become read-only",
        _ => match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
            Some(rustix::io::Errno::MFILE) => "; too many open files: see `ulimit -n`",
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
