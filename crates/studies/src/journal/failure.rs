//! What the store could not do, in words.

use std::io::ErrorKind::{InvalidInput, Unsupported};

use engine::study::StudyError;
use journal::Error;

/// For `map_err`.
pub(super) fn failed(error: Error) -> StudyError {
    let Error::Io { action, source, .. } = error else {
        return StudyError::Refused { doing: "working on the store", why: error.to_string() };
    };
    let why = match (action, source.kind()) {
        ("creating" | "opening", InvalidInput) => {
            "this file system has no O_DIRECT (a tmpfs has it since Linux 6.6); set \
             journal.writing=fdatasync or dsync there"
        }
        ("writing the header", InvalidInput) => {
            "O_DIRECT does not take blocks of this size here, for the device has larger sectors; \
             set journal.block=4096"
        }
        ("allocating space", Unsupported) => {
            "this file system cannot allocate space ahead; set journal.space=growing"
        }
        _ => return StudyError::Io { doing: action, source },
    };
    StudyError::Unsuited(why.to_owned())
}
