//! A folder that is open, how working folders are told from others, and how one is
//! removed by whoever holds its lock (see the rule in `workdir.rs`).

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, OFlags};
use rustix::io::Errno;

use crate::removal::{self, Failure, Tally};
use crate::walk::open_within;

/// What every working folder's name begins with.
pub(crate) const PREFIX: &str = ".iotoll-";

/// The name's random part, in hexadecimal digits.
pub(crate) const DIGITS: usize = 16;

/// The lock file's name.
pub(crate) const LOCK: &CStr = c"lock";

/// The lock file's name until it says whose it is.
pub(crate) const UNSIGNED: &CStr = c"lock.new";

/// An open directory, and where it is.
#[derive(Debug)]
pub struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) fd: OwnedFd,
}

impl Folder {
    /// Absolute, links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// To open files relative to, so that nothing on the way can be exchanged.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Removes a folder whose lock is held, the lock last: until then it is an owned folder,
/// and thereafter an empty one.
pub(crate) fn remove_folder(
    parent: BorrowedFd<'_>,
    name: &CStr,
    folder: &Folder,
    lock: OwnedFd,
) -> Result<Tally, Failure> {
    let tally = removal::empty(folder.fd(), &folder.path, Some(LOCK))?;
    let fail = |error| Failure { path: folder.path.clone(), error };
    rustix::fs::unlinkat(folder.fd(), LOCK, AtFlags::empty()).map_err(fail)?;
    // NFS keeps a removed file that is open under another name in the same folder.
    drop(lock);
    match remove_name(parent, name, folder) {
        // A cleaner was quicker.
        Ok(()) | Err(Errno::NOENT) => Ok(tally),
        Err(error) => Err(fail(error)),
    }
}

/// Removes the name of an empty folder, if it still is the one that is open.
pub(crate) fn remove_name(
    parent: BorrowedFd<'_>,
    name: &CStr,
    folder: &Folder,
) -> Result<(), Errno> {
    if !is_named(parent, name, folder.fd()) {
        // In this order: another cleaner may remove it at any moment.
        let is_there = rustix::fs::fstat(folder.fd())?.st_nlink > 0;
        return Err(if is_there { Errno::STALE } else { Errno::NOENT });
    }
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Opens a file in a folder, if it is one of the user's own: no link, device or directory, and
/// not another mount. Otherwise an error (`EPERM`).
pub(crate) fn open_own_file(
    folder: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let file = open_within(folder, name, flags | OFlags::NONBLOCK)?;
    let stat = rustix::fs::fstat(&file)?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let is_own = stat.st_uid == rustix::process::geteuid().as_raw();
    if is_file && is_own { Ok(file) } else { Err(Errno::PERM) }
}

/// Whether a name in a directory still is that of an open file or directory. Linux has no
/// removal of what is open, so that another may get the name after this was asked; only who
/// may exchange names there can do that, and they may remove what has the name themselves.
pub(crate) fn is_named(parent: BorrowedFd<'_>, name: &CStr, opened: BorrowedFd<'_>) -> bool {
    let named = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    let identity = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    named.is_ok_and(|named| rustix::fs::fstat(opened).map(identity) == Ok(identity(named)))
}

/// Whether an open file still has a name.
pub(crate) fn is_linked(file: &OwnedFd) -> Result<bool, Errno> {
    Ok(rustix::fs::fstat(file)?.st_nlink > 0)
}
