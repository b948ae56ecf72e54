//! Removing a tree, and nothing but that tree.
//!
//! Every step is relative to an open directory, so that a folder that is renamed or
//! replaced under way cannot lead elsewhere. Symbolic links are removed, not followed,
//! and no other mount is entered: a bind mount within the tree holds someone's files.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use host::identity::Identity;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

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

/// A removal that goes on where it can, and remembers what failed first.
#[derive(Debug, Default)]
pub(crate) struct Removal {
    pub(crate) tally: Tally,
    failure: Option<Failure>,
}

impl Removal {
    /// Removes everything in a directory, except entries of the name to keep.
    pub(crate) fn empty(&mut self, dir: BorrowedFd<'_>, path: &Path, keep: Option<&CStr>) {
        let listing = names(dir);
        for name in listing.iter().flatten() {
            if Some(name.as_c_str()) != keep {
                self.entry(dir, path, name);
            }
        }
        if let Err(error) = listing {
            self.fail(path.to_owned(), error);
        }
    }

    /// Removes one entry of a directory, with all that is in it.
    pub(crate) fn entry(&mut self, dir: BorrowedFd<'_>, dir_path: &Path, name: &CStr) {
        let path = dir_path.join(OsStr::from_bytes(name.to_bytes()));
        if let Err(error) = self.try_entry(dir, &path, name) {
            self.fail(path, error);
        }
    }

    fn try_entry(&mut self, dir: BorrowedFd<'_>, path: &Path, name: &CStr) -> Result<(), Errno> {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if is_directory {
            self.empty(open_child(dir, name)?.as_fd(), path, None);
        }
        let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(dir, name, flags)?;
        self.tally.files += u64::from(!is_directory);
        self.tally.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        Ok(())
    }

    /// Only the first failure is kept: the directories above it fail because of it.
    fn fail(&mut self, path: PathBuf, error: Errno) {
        self.failure.get_or_insert(Failure { path, error });
    }

    pub(crate) fn finish(self) -> Result<Tally, Failure> {
        self.failure.map_or(Ok(self.tally), Err)
    }
}

/// The names in a directory, itself and its parent aside.
pub(crate) fn names(dir: BorrowedFd<'_>) -> Result<Vec<std::ffi::CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

/// Opens a directory within another, unless it is a link or another mount.
pub(crate) fn open_child(dir: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    open_within(dir, name, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Opens what is in a directory, unless it is a link or another mount.
pub(crate) fn open_within(
    dir: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(dir, name, flags, Mode::empty(), resolve) {
        // Older than Linux 5.6, or forbidden by a container that does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_without_openat2(dir, name, flags),
        opened => opened,
    }
}

fn open_without_openat2(dir: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let child = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let place = |fd: BorrowedFd<'_>| {
        let identity =
            Identity::of(fd).map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO))?;
        Ok((identity.mount_id, identity.device))
    };
    if place(dir)? == place(child.as_fd())? { Ok(child) } else { Err(Errno::XDEV) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_and_no_other_mount_is_opened_with_or_without_openat2() {
        let root = File::open("/").unwrap();
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("dir")).unwrap();
        symlink("dir", place.path().join("link")).unwrap();
        let dir = File::open(place.path()).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let plainly = |dir: &File, name| open_without_openat2(dir.as_fd(), name, flags);
        assert_eq!(open_child(root.as_fd(), c"proc").unwrap_err(), Errno::XDEV);
        assert_eq!(plainly(&root, c"proc").unwrap_err(), Errno::XDEV);
        assert!(open_child(dir.as_fd(), c"link").is_err() && plainly(&dir, c"link").is_err());
        assert!(open_child(dir.as_fd(), c"dir").is_ok() && plainly(&dir, c"dir").is_ok());
    }

    #[test]
    fn what_is_to_be_kept_is_kept_only_at_the_top() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("sub")).unwrap();
        for file in ["lock", "other", "sub/lock"] {
            fs::write(place.path().join(file), [1; 5000]).unwrap();
        }
        let mut removal = Removal::default();
        removal.empty(File::open(place.path()).unwrap().as_fd(), place.path(), Some(c"lock"));
        let tally = removal.finish().unwrap();
        assert_eq!(tally.files, 2);
        assert!(tally.bytes >= 10_000, "{tally:?}");
        let left: Vec<_> = fs::read_dir(place.path()).unwrap().flatten().collect();
        assert_eq!((left.len(), left[0].file_name().to_str()), (1, Some("lock")));
    }
}
