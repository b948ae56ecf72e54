//! Opening a place once, so that all that follows happens to the same directory.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use host::root::Root;
use host::users::unmapped_uid;
use model::ownership::{Directory, objection};
use rustix::fs::{Mode, OFlags, fstat};

use crate::error::{PlaceError, PlaceName, WorkDirError};

/// What a working folder's files may need of a path's length beyond the place's own.
const PATH_RESERVE: usize = 512;

/// `PATH_MAX` of Linux: what a system call accepts, with its end.
const PATH_MAX: usize = 4096;

/// A place's directory, opened only to be referred to (`O_PATH`), so that the right to
/// list it is not needed.
pub(crate) struct OpenPlace {
    /// Absolute, links resolved.
    pub(crate) path: PathBuf,
    pub(crate) fd: OwnedFd,
}

impl OpenPlace {
    pub(crate) fn open(name: &PlaceName) -> Result<Self, PlaceError> {
        let fail = |action, error| PlaceError::from_io(name, action, error);
        let path = name.path.canonicalize().map_err(|e| fail("resolving it", e))?;
        if path.as_os_str().len() + PATH_RESERVE > PATH_MAX {
            return Err(PlaceError::TooLong(name.clone()));
        }
        let fd = open_directory(&path).map_err(|e| fail("opening it", e))?;
        Ok(Self { path, fd })
    }

    /// An error where root would work in it, and others could lead that elsewhere.
    pub(crate) fn check_owners(&self, name: &PlaceName) -> Result<(), WorkDirError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        let fail = |error| PlaceError::from_io(name, "looking at the directories above it", error);
        let way = directories_above(self.fd.as_fd(), &self.path).map_err(fail)?;
        match objection(&way, unmapped_uid(&Root::real())) {
            None => Ok(()),
            Some(objection) => Err(WorkDirError::objected(name, &objection)),
        }
    }
}

/// A directory and those above it, found from the one that is open: they are those whose
/// owners count, whatever the path leads to by now.
pub(crate) fn directories_above(
    directory: BorrowedFd<'_>,
    path: &Path,
) -> io::Result<Vec<Directory>> {
    let mut way = Vec::new();
    let mut path = path.to_owned();
    let mut fd = open_at(directory, c".")?;
    loop {
        let stat = fstat(&fd)?;
        way.push(Directory { path: path.clone(), uid: stat.st_uid, mode: stat.st_mode });
        let has_name = path.pop();
        let above = open_at(fd.as_fd(), c"..")?;
        let at_root = {
            let above = fstat(&above)?;
            (above.st_dev, above.st_ino) == (stat.st_dev, stat.st_ino)
        };
        // What is bound into itself is the same as what is above it, without being the root.
        if (at_root && !has_name) || way.len() > PATH_MAX {
            return Ok(way);
        }
        fd = above;
    }
}

fn open_at(directory: BorrowedFd<'_>, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, name, flags, Mode::empty())?)
}

pub(crate) fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
