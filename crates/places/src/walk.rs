//! Going through a tree, and nothing but that tree, however deep it is.
//!
//! Every step is relative to an open directory, so that a folder that is renamed or
//! replaced under way cannot lead elsewhere. No link is followed, and no other mount is
//! entered: a bind mount within the tree holds someone's files.
//!
//! Only the directory that the walk is in is open, beside the one that it began in. The
//! way back is `..`, which is trusted only where it leads to the very directory that the
//! walk came from. So neither the stack nor the limit on open files bounds the depth.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use host::identity::Identity;
use rustix::fs::{Dir, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// What became of an entry that a walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is a directory, to be gone through before [`Visit::leave`] is called for it.
    Enter,
    /// Nothing more is to be done with it.
    Done,
}

/// What is done on a walk. Each directory is given with its path, for messages alone.
pub(crate) trait Visit {
    /// At an entry of a directory.
    fn entry(&mut self, dir: BorrowedFd<'_>, path: &Path, name: &CStr) -> Result<Next, Errno>;

    /// At an entry that was entered, once all within it is done.
    fn leave(&mut self, dir: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno>;

    /// Something could not be done. The walk goes on with what comes next.
    fn failed(&mut self, path: &Path, error: Errno);
}

/// Goes through all that is in a directory.
pub(crate) fn walk(top: BorrowedFd<'_>, path: &Path, visit: &mut dyn Visit) {
    match names(top) {
        Ok(names) => {
            let (path, way) = (path.to_owned(), Vec::new());
            Walk { top, path, below: None, way, names, visit }.run();
        }
        Err(error) => visit.failed(path, error),
    }
}

struct Walk<'a> {
    top: BorrowedFd<'a>,
    /// Of the directory that the walk is in, which is `below` unless it is the top.
    path: PathBuf,
    below: Option<OwnedFd>,
    /// What is still to be done there.
    names: Vec<CString>,
    /// The directories above, from the top on.
    way: Vec<Above>,
    visit: &'a mut dyn Visit,
}

/// A directory above the one that the walk is in.
struct Above {
    identity: FileId,
    /// What is still to be done there once that one is left.
    names: Vec<CString>,
    /// The name that was entered.
    entered: CString,
}

/// What tells files apart: the mount, the file system and the inode.
type FileId = (Option<u64>, u64, u64);

impl Walk<'_> {
    fn run(mut self) {
        loop {
            match self.names.pop() {
                Some(name) => self.entry(name),
                None if self.way.is_empty() => return,
                None => {
                    if let Err(error) = self.leave() {
                        // Someone moved the directory: where its parent is cannot be known.
                        return self.visit.failed(&self.path, error);
                    }
                }
            }
        }
    }

    fn entry(&mut self, name: CString) {
        let dir = self.below.as_ref().map_or(self.top, AsFd::as_fd);
        self.path.push(OsStr::from_bytes(name.to_bytes()));
        let entered = self.visit.entry(dir, &self.path, &name).and_then(|next| match next {
            Next::Done => Ok(None),
            Next::Enter => entered(dir, &name).map(Some),
        });
        match entered {
            Ok(Some((identity, child, names))) => {
                self.below = Some(child);
                let names = std::mem::replace(&mut self.names, names);
                self.way.push(Above { identity, names, entered: name });
                return;
            }
            Ok(None) => {}
            Err(error) => self.visit.failed(&self.path, error),
        }
        self.path.pop();
    }

    fn leave(&mut self) -> Result<(), Errno> {
        let (Some(child), Some(above)) = (self.below.take(), self.way.pop()) else { return Ok(()) };
        if !self.way.is_empty() {
            self.below = Some(parent_of(&child, above.identity)?);
        }
        drop(child);
        let dir = self.below.as_ref().map_or(self.top, AsFd::as_fd);
        if let Err(error) = self.visit.leave(dir, &above.entered) {
            self.visit.failed(&self.path, error);
        }
        self.path.pop();
        self.names = above.names;
        Ok(())
    }
}

/// A directory's identity, and a child of it with the names that are in it.
fn entered(dir: BorrowedFd<'_>, name: &CStr) -> Result<(FileId, OwnedFd, Vec<CString>), Errno> {
    let child = open_child(dir, name)?;
    let names = names(child.as_fd())?;
    Ok((identity(dir)?, child, names))
}

/// The directory above an open one, if it is still the one that it was.
fn parent_of(child: &OwnedFd, expected: FileId) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let parent = rustix::fs::openat(child, c"..", flags, Mode::empty())?;
    if identity(parent.as_fd())? == expected { Ok(parent) } else { Err(Errno::XDEV) }
}

fn identity(dir: BorrowedFd<'_>) -> Result<FileId, Errno> {
    let stat = rustix::fs::fstat(dir)?;
    let mount = Identity::of(dir).map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::IO))?;
    Ok((mount.mount_id, stat.st_dev, stat.st_ino))
}

/// The names in a directory, itself and its parent aside.
pub(crate) fn names(dir: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
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

    /// Moves the directory that the walk is in elsewhere, once it is there.
    struct Mover<'a> {
        from: &'a Path,
        to: &'a Path,
        failed: Vec<(PathBuf, Errno)>,
        left: usize,
    }

    impl Visit for Mover<'_> {
        fn entry(&mut self, _: BorrowedFd<'_>, path: &Path, _: &CStr) -> Result<Next, Errno> {
            if path.ends_with("file") {
                fs::rename(self.from, self.to).unwrap();
                return Ok(Next::Done);
            }
            Ok(Next::Enter)
        }

        fn leave(&mut self, _: BorrowedFd<'_>, _: &CStr) -> Result<(), Errno> {
            self.left += 1;
            Ok(())
        }

        fn failed(&mut self, path: &Path, error: Errno) {
            self.failed.push((path.to_owned(), error));
        }
    }

    #[test]
    fn a_directory_that_is_moved_away_under_way_does_not_lead_to_where_it_is_now() {
        let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let inner = place.path().join("a/b/c");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("file"), "").unwrap();
        let top = File::open(place.path()).unwrap();
        let to = other.path().join("c");
        let mut mover = Mover { from: &inner, to: &to, failed: Vec::new(), left: 0 };
        walk(top.as_fd(), place.path(), &mut mover);
        assert_eq!(mover.failed, [(inner.clone(), Errno::XDEV)]);
        assert_eq!(mover.left, 0, "nothing is done in the folder that it was moved to");
    }
}
