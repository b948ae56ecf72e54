//! Opening a place once, so that all that follows happens to the same directory.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::error::{PlaceError, PlaceName};

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
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}
