//! Why a place could not be created, each in a sentence with what to use instead.

use std::fmt::Display;
use std::io;

use rustix::io::Errno;
use thiserror::Error;

use crate::error::{PlaceError, WorkDirError};

/// Why a place could not be created, or removed.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct CreateError(pub(super) String);

impl From<PlaceError> for CreateError {
    fn from(error: PlaceError) -> Self {
        Self(error.to_string())
    }
}

impl From<WorkDirError> for CreateError {
    fn from(error: WorkDirError) -> Self {
        Self(error.to_string())
    }
}

/// The record is written first, or nothing is created.
pub(super) fn recording(error: io::Error) -> CreateError {
    CreateError::failed("recording what is created", error)
}

impl CreateError {
    /// The process may have mounts, but none such.
    pub(super) fn needs_root() -> Self {
        let why = "only root can create this place; run as root, or use tmpfs:SIZE, or a directory \
                   that exists, such as /dev/shm";
        Self(why.to_owned())
    }

    /// A signal came meanwhile.
    pub(super) fn interrupted() -> Self {
        Self("interrupted while it was created".to_owned())
    }

    /// What the system says where nothing better is known.
    pub(super) fn failed(action: &str, error: impl Display) -> Self {
        Self(format!("{action} failed: {error}; see the kernel log (dmesg)"))
    }

    pub(super) fn mount(filesystem: &str, options: &str, error: Errno) -> Self {
        let advice = match error {
            Errno::NODEV => {
                return Self(format!(
                    "this kernel does not support {filesystem}; use another file system, or a \
                     directory that exists, such as /dev/shm for memory"
                ));
            }
            Errno::PERM | Errno::ACCESS => "run as root, or use a directory that exists",
            Errno::INVAL => "check the options; the kernel log (dmesg) names the one it refuses",
            _ => "see the kernel log (dmesg)",
        };
        Self(format!(
            "mounting {filesystem} with the options `{options}` failed: {error}; {advice}"
        ))
    }
}
