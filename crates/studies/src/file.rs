//! What the studies share: files in a slice's folder, and writes that are whole.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use engine::study::{Doing, StudyError};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::{self, Errno};

/// Opens a file in the folder for writing, made if it is not there, following no link.
#[inline]
pub(crate) fn open_for_writing(
    folder: impl AsFd,
    name: &CStr,
    extra: OFlags,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | extra;
    openat(folder, name, flags, Mode::RUSR | Mode::WUSR)
}

/// One write(2) that takes all or is an error: appending the rest with a second
/// call would hide that the record was torn.
#[inline]
pub(crate) fn write_whole(
    file: impl AsFd,
    bytes: &[u8],
    doing: &'static str,
) -> Result<(), StudyError> {
    match io::write(file, bytes) {
        Ok(written) if written == bytes.len() => Ok(()),
        Ok(written) => Err(StudyError::Short { doing, written, wanted: bytes.len() }),
        Err(error) => Err(error).doing(doing),
    }
}
