//! What a study must do to be timed.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;

use model::integrity::Integrity;
use model::study::{Params, StudySpec};
use thiserror::Error;

use crate::recorder::Recorder;

/// One kind of application I/O, ready to be timed.
pub trait Study: Sync {
    /// Its name, strategies and parameters.
    fn spec(&self) -> &'static StudySpec;

    /// How many operations a slice may have, or why these parameters do not go together.
    fn operations(&self, params: &Params) -> Result<Operations, String>;

    /// Whether what a slice leaves behind makes the next one faster. Where each
    /// starts everything anew there is no warming up.
    fn warms_up(&self) -> bool {
        true
    }

    /// Why the study cannot be timed like this, as far as can be seen before
    /// anything is made.
    ///
    /// # Errors
    /// In words, with what to do.
    fn refuse(&self, strategy: &str, params: &Params) -> Result<(), String> {
        let _ = (strategy, params);
        Ok(())
    }

    /// The most that one slice of so many operations leaves in the folder, in bytes.
    fn space_bytes(&self, strategy: &str, params: &Params, operations: u64) -> u64;

    /// Makes ready, outside the clock, what the slice needs in its fresh and
    /// empty folder. The task may keep a duplicate of the folder's descriptor.
    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError>;
}

/// One slice's work.
pub trait Task {
    /// Makes ready, outside the clock, for so many operations.
    fn ready(&mut self, operations: u64, recorder: &Recorder) -> Result<(), StudyError> {
        let _ = (operations, recorder);
        Ok(())
    }

    /// Does the operations under the clock, one [`Recorder::lap`] after each.
    fn run(&mut self, operations: u64, recorder: &mut Recorder) -> Result<(), StudyError>;

    /// Forces what the slice left unwritten to the device.
    fn flush(&mut self) -> Result<(), StudyError>;

    /// Reads back what was written and accounts for every record, outside the
    /// clock. `None` where the study has nothing to check.
    fn check(&mut self) -> Result<Option<Integrity>, StudyError> {
        Ok(None)
    }

    /// The slice's figures beside the toll, as the study's spec names them.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// What whoever did the work says of it, by names of their own.
    fn evidence(&self) -> BTreeMap<String, f64> {
        BTreeMap::new()
    }

    /// What the slice is judged by, where that is not its mean time per operation.
    fn judged_ns(&self) -> Option<f64> {
        None
    }

    /// Operations that failed, where they may.
    fn failed(&self) -> Option<u64> {
        None
    }

    /// Whether the 99th percentile of the latencies is not the arm's own.
    fn tail_untrusted(&self) -> bool {
        false
    }

    /// Why the slice's figures are not the arm's own, if so.
    fn untrusted(&self) -> Option<String> {
        None
    }

    /// What [`Task::run`] asked the system to write or read, in bytes.
    fn requested_bytes(&self) -> u64;
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

/// What to do about an error of the system, to be put behind it.
pub fn advice(error: &io::Error) -> &'static str {
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
