//! Removing a tree, and nothing but that tree (see `walk.rs`). Symbolic links are
//! removed, not followed.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::walk::{Next, Visit, open_child, open_within, walk};

/// How much was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Directories aside.
    pub(crate) files: u64,
    /// As the file system had set aside for them.
    pub(crate) bytes: u64,
}

/// What could not be removed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) path: PathBuf,
    pub(crate) error: Errno,
}

/// Removes everything in a directory, except an entry of the name to keep. Goes on where
/// it can, and tells what failed first.
pub(crate) fn empty(
    dir: BorrowedFd<'_>,
    path: &Path,
    keep: Option<&CStr>,
) -> Result<Tally, Failure> {
    let mut removal = Removal { top: path, keep, tally: Tally::default(), failure: None };
    walk(dir, path, &mut removal);
    removal.failure.map_or(Ok(removal.tally), Err)
}

/// Removes one entry of a directory, with all that is in it.
pub(crate) fn entry(dir: BorrowedFd<'_>, dir_path: &Path, name: &CStr) -> Result<(), Failure> {
    let path = dir_path.join(OsStr::from_bytes(name.to_bytes()));
    let fail = |error| Failure { path: path.clone(), error };
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    if is_directory {
        open_up(dir, name, &stat);
        let child = open_child(dir, name).map_err(fail)?;
        empty(child.as_fd(), &path, None)?;
    }
    let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    rustix::fs::unlinkat(dir, name, flags).map_err(fail)
}

/// Lets this user list and empty a directory of theirs that they may not: overlays and programs leave
/// some. Where that is refused, opening it says so.
fn open_up(dir: BorrowedFd<'_>, name: &CStr, stat: &Stat) {
    let may = Mode::from_raw_mode(stat.st_mode).contains(Mode::RWXU);
    if may || stat.st_uid != rustix::process::geteuid().as_raw() {
        return;
    }
    // By way of the directory itself, whatever has its name by then.
    if let Ok(handle) = open_within(dir, name, OFlags::PATH | OFlags::DIRECTORY) {
        let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let _ = rustix::fs::chmod(link, Mode::RWXU);
    }
}

struct Removal<'a> {
    top: &'a Path,
    keep: Option<&'a CStr>,
    tally: Tally,
    failure: Option<Failure>,
}

impl Visit for Removal<'_> {
    fn entry(&mut self, dir: BorrowedFd<'_>, path: &Path, name: &CStr) -> Result<Next, Errno> {
        if self.keep == Some(name) && path.parent() == Some(self.top) {
            return Ok(Next::Done);
        }
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if !is_directory {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
            self.tally.files += 1;
        }
        if is_directory {
            open_up(dir, name, &stat);
        }
        self.tally.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        Ok(if is_directory { Next::Enter } else { Next::Done })
    }

    fn leave(&mut self, dir: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)
    }

    /// Only the first failure is kept: the directories above it fail because of it.
    fn failed(&mut self, path: &Path, error: Errno) {
        self.failure.get_or_insert_with(|| Failure { path: path.to_owned(), error });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_directory_that_is_closed_to_its_owner_is_removed() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("outer/inner")).unwrap();
        for closed in ["outer/inner", "outer"] {
            fs::set_permissions(place.path().join(closed), fs::Permissions::from_mode(0o0))
                .unwrap();
        }
        let dir = File::open(place.path()).unwrap();
        empty(dir.as_fd(), place.path(), None).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_to_be_kept_is_kept_only_at_the_top() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("sub")).unwrap();
        for file in ["lock", "other", "sub/lock"] {
            fs::write(place.path().join(file), [1; 5000]).unwrap();
        }
        let dir = File::open(place.path()).unwrap();
        let tally = empty(dir.as_fd(), place.path(), Some(c"lock")).unwrap();
        assert_eq!(tally.files, 2);
        assert!(tally.bytes >= 10_000, "{tally:?}");
        let left: Vec<_> = fs::read_dir(place.path()).unwrap().flatten().collect();
        assert_eq!((left.len(), left[0].file_name().to_str()), (1, Some("lock")));
    }
}
