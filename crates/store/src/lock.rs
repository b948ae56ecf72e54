//! Which runs are still going on.
//!
//! A run's process holds a lock on a file beside the database until the run is finished.
//! The kernel drops it however the process ends, and another process cannot take a dead
//! one's place, as it can with its number. Files are made, and looked at, within a
//! writing transaction of the database alone, so that nobody looks at one half made.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::Error;

/// How the files end.
const SUFFIX: &str = "running";
const NOFOLLOW: i32 = OFlags::NOFOLLOW.bits().cast_signed();

/// Says that a run goes on, as long as it lives or its process does.
pub(crate) struct RunLock {
    path: PathBuf,
    /// Held for its lock.
    _file: File,
}

impl RunLock {
    /// Takes the lock of a new run.
    pub(crate) fn take(folder: &Path, id: &str) -> Result<Self, Error> {
        let path = path(folder, id);
        let file = open(&path, true).map_err(Error::io(&path, "making it"))?;
        let failed = Error::io(&path, "locking it");
        match file.try_lock() {
            Ok(()) => Ok(Self { path, _file: file }),
            Err(TryLockError::WouldBlock) => Err(failed(rustix::io::Errno::WOULDBLOCK.into())),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // One that stays is removed with the next run, whose lock it no longer is.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the files of runs that are over.
pub(crate) fn sweep(folder: &Path) -> Result<(), Error> {
    let failed = || Error::io(folder, "listing it");
    for entry in fs::read_dir(folder).map_err(failed())? {
        let path = entry.map_err(failed())?.path();
        if is_file(&path) && open(&path, false).is_ok_and(|file| file.try_lock().is_ok()) {
            fs::remove_file(&path).map_err(Error::io(&path, "removing it"))?;
        }
    }
    Ok(())
}

/// Whether a run goes on, once the files of others are swept.
pub(crate) fn is_held(folder: &Path, id: &str) -> bool {
    fs::symlink_metadata(path(folder, id)).is_ok()
}

/// Whether a run goes on, where the files of others cannot be swept. What cannot be told goes on.
pub(crate) fn is_taken(folder: &Path, id: &str) -> bool {
    match File::options().read(true).custom_flags(NOFOLLOW).open(path(folder, id)) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

/// Whether a file is one of these, by its name.
pub(crate) fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == SUFFIX)
}

fn path(folder: &Path, id: &str) -> PathBuf {
    folder.join(id).with_extension(SUFFIX)
}

fn open(path: &Path, make: bool) -> std::io::Result<File> {
    File::options()
        .write(true)
        .create(make)
        .truncate(false)
        .mode(0o600)
        .custom_flags(NOFOLLOW)
        .open(path)
}
