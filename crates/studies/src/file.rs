//! What the studies share: files and folders in a slice's folder, and reads and
//! writes that are whole.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use engine::study::{Doing, StudyError};
use rustix::fs::{Mode, OFlags, fsync, mkdirat, openat};
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

/// Opens a file in the folder for reading, following no link.
#[inline]
pub(crate) fn open_for_reading(folder: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    openat(folder, name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Where a folder is, for those who open files by path, such as SQLite and servers.
pub(crate) fn folder_path(folder: impl AsFd) -> std::io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd()))
}

/// Makes a folder for this user alone.
pub(crate) fn make_folder(folder: impl AsFd, name: &CStr) -> Result<(), StudyError> {
    mkdirat(folder, name, Mode::RWXU).doing("making a folder")
}

/// Forces a folder's own entries to the device: without it, a crash may leave a
/// file without its name.
pub(crate) fn sync_folder(folder: impl AsFd, name: &CStr) -> Result<(), StudyError> {
    const SYNCING: &str = "forcing a folder to the device";
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags, Mode::empty()).doing(SYNCING)?;
    fsync(opened).doing(SYNCING)
}

/// A name made by the study itself, in which no zero can be.
pub(crate) fn name(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|_| unreachable!("no name of ours has a zero in it: {text}"))
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

/// Fills `bytes` by read(2); an error where the file ends before.
#[inline]
pub(crate) fn read_whole(
    file: impl AsFd,
    bytes: &mut [u8],
    doing: &'static str,
) -> Result<(), StudyError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match io::read(&file, &mut bytes[filled..]).doing(doing)? {
            0 => return Err(StudyError::Ended { doing, got: filled, wanted: bytes.len() }),
            read => filled += read,
        }
    }
    Ok(())
}
