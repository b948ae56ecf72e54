//! What the store could not do, in words.

use std::io;

use engine::study::StudyError;
use journal::Error;

/// For `map_err`.
pub(super) fn failed(error: Error) -> StudyError {
    match error {
        Error::Io { action: "creating" | "opening", source, .. }
            if source.kind() == io::ErrorKind::InvalidInput =>
        {
            StudyError::Unsuited(
                "this file system has no O_DIRECT (a tmpfs has it since Linux 6.6); set \
                 journal.writing=fdatasync or dsync there"
                    .to_owned(),
            )
        }
        Error::Io { action: "writing the header", source, .. }
            if source.kind() == io::ErrorKind::InvalidInput =>
        {
            StudyError::Unsuited(
                "O_DIRECT does not take blocks of this size here, for the device has larger \
                 sectors; set journal.block=4096"
                    .to_owned(),
            )
        }
        Error::Io { action: "allocating space", source, .. }
            if source.kind() == io::ErrorKind::Unsupported =>
        {
            StudyError::Unsuited(
                "this file system cannot allocate space ahead; set journal.space=growing"
                    .to_owned(),
            )
        }
        Error::Io { action, source, .. } => StudyError::Io { doing: action, source },
        other => StudyError::Refused { doing: "working on the store", why: other.to_string() },
    }
}
