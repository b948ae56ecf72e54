//! What a run and the process that runs its slices send each other.

use std::time::Duration;

use host::clock::ClockTold;
use model::place::PlaceFacts;
use model::run::ArmRecord;
use model::slice::Slice;
use serde::{Deserialize, Serialize};

use crate::error::StudyError;

/// What is sent to the process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToProcess {
    /// Something of the user's that was read before the run began, by its name; with a
    /// descriptor.
    UserData(String),
    /// What the slices are of; first of all but the user's data.
    Begin { clock: ClockTold, places: Vec<PlaceFacts>, arms: Vec<ArmRecord> },
    /// To run a slice; with the descriptors of its own folder and of its arm's.
    Slice { arm: usize, operations: u64, kept_is_new: bool },
    /// The clock may start: enough of what earlier slices left is put away. Sent once after each
    /// `Slice`.
    Start,
}

/// The answer to each slice.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FromProcess {
    pub(super) slice: Result<Box<Slice>, Failure>,
    /// How long it was prepared.
    pub(super) preparing: Duration,
    /// What cannot be read there, each with what is not known for it.
    pub(super) unread: Vec<String>,
    /// Processes that it could not end, each in a sentence.
    pub(super) left_behind: Vec<String>,
}

/// Why a slice failed, as far as a run treats failures differently, in words.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Failure {
    Stopped,
    Enough(String),
    Unsuited(String),
    Failed(String),
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Stopped => Self::Stopped,
            StudyError::Enough(why) => Self::Enough(why),
            StudyError::Unsuited(why) => Self::Unsuited(why),
            StudyError::Io { .. }
            | StudyError::Short { .. }
            | StudyError::Ended { .. }
            | StudyError::Refused { .. }
            | StudyError::Worker(_) => Self::Failed(error.to_string()),
        }
    }
}

impl From<Failure> for StudyError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Stopped => Self::Stopped,
            Failure::Enough(why) => Self::Enough(why),
            Failure::Unsuited(why) => Self::Unsuited(why),
            Failure::Failed(why) => Self::Worker(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_failure_says_the_same_at_the_other_end() {
        let full = || io::Error::from_raw_os_error(28);
        let all = [
            || StudyError::Stopped,
            || StudyError::Enough("the limit".to_owned()),
            || StudyError::Unsuited("no such thing".to_owned()),
            || StudyError::Short { doing: "appending", written: 3, wanted: 5 },
            || StudyError::Refused { doing: "asking", why: "no".to_owned() },
        ];
        let io = StudyError::Io { doing: "appending", source: full() };
        let said = io.to_string();
        assert!(said.contains("free some space"), "{said}");
        assert_eq!(StudyError::from(Failure::from(io)).to_string(), said);
        for error in all {
            let there = StudyError::from(Failure::from(error()));
            assert_eq!(there.to_string(), error().to_string());
            let stops =
                |error: &StudyError| matches!(error, StudyError::Stopped | StudyError::Enough(_));
            assert_eq!(stops(&there), stops(&error()));
        }
    }
}
