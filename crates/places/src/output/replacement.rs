//! A file that is made, or replaced by another, whole or not at all.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use model::ownership::Access as OthersAccess;
use rustix::fs::{Access, AtFlags, Mode, OFlags, Stat, accessat, fstat, openat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::Readers;
use super::error::OutputError;
use super::temporary::Temporary;
use super::way::Spot;

/// The bit of a directory in which only the owner of a file may replace it.
const STICKY: u32 = 0o1000;
/// The rights of a file that are its owner's alone.
const OWNERS: u32 = 0o700;

/// A file that may be made or replaced.
#[derive(Debug)]
pub(super) struct Replacement {
    spot: Spot,
    readers: Readers,
}

impl Replacement {
    /// Checks that the file may be made or replaced, without doing either.
    pub(super) fn of(spot: Spot, readers: Readers) -> Result<Self, OutputError> {
        let directory = |error: Errno| {
            let path = &spot.directory_path;
            let is_here = path.as_os_str().is_empty();
            let directory = if is_here { PathBuf::from(".") } else { path.clone() };
            OutputError::NoTemporary { directory, source: error.into() }
        };
        accessat(&spot.directory, c".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
            .map_err(directory)?;
        if let Some(old) = &spot.entry {
            let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
            match accessat(&spot.directory, &spot.name, Access::WRITE_OK, flags) {
                // A kernel that cannot say. What may not be replaced then fails later.
                Err(Errno::NOSYS | Errno::INVAL) | Ok(()) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let around = fstat(&spot.directory).map_err(io::Error::from)?;
            let user = geteuid().as_raw();
            let may_replace = [0, old.stat.st_uid, around.st_uid].contains(&user);
            if around.st_mode & STICKY != 0 && !may_replace {
                let why = "it belongs to another user, and only that user may replace it";
                return Err(OutputError::refused(why));
            }
        }
        Ok(Self { spot, readers })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.spot.path()
    }

    pub(super) fn has_old(&self) -> bool {
        self.spot.entry.is_some()
    }

    /// The file that is there, to read.
    pub(super) fn open_old(&self) -> io::Result<Option<File>> {
        let opened = self.spot.open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC)?;
        Ok(opened.map(File::from))
    }

    /// Puts a new file in the place of what is there, once `write` has written it.
    pub(super) fn make(&self, write: impl Fn(&File) -> io::Result<()>) -> io::Result<File> {
        let mode = match self.readers {
            Readers::Usual => 0o666,
            Readers::Owner => 0o600,
        };
        let write = |file: &File| {
            self.keep_readers(file)?;
            write(file)
        };
        let directory = self.spot.directory.as_fd();
        let new = Temporary::unnamed(directory, mode, &write);
        let new = new.or_else(|_| Temporary::named(directory, mode, &write))?;
        let file = new.rename_to(&self.spot.name)?;
        self.sync_directory();
        Ok(file)
    }

    /// Lets those read a new file who could read the old one, where that was the user's own
    /// and nobody else can have put it there. It never gets another owner.
    fn keep_readers(&self, new: &File) -> io::Result<()> {
        let Some(old) = &self.spot.entry else { return Ok(()) };
        let is_ours =
            old.stat.st_uid == geteuid().as_raw() && self.spot.others != OthersAccess::Exchange;
        if self.readers == Readers::Usual && is_ours {
            let mode = kept_mode(&old.stat, new.metadata()?.gid());
            new.set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// The name is on the disk with its directory; where that cannot be synced, it will be
    /// with whatever else happens there.
    fn sync_directory(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(&self.spot.directory, c".", flags, Mode::empty());
        let _ = opened.and_then(|directory: OwnedFd| rustix::fs::fsync(directory));
    }
}

/// The old file's mode. Where its group was another, the new group may do no more than
/// everybody might, and everybody no more than the old group.
fn kept_mode(old: &Stat, gid: u32) -> u32 {
    let mode = old.st_mode & 0o777;
    if old.st_gid == gid {
        return mode;
    }
    let of_all = (mode >> 3) & mode & 0o7;
    (mode & OWNERS) | (of_all << 3) | of_all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_group_gets_no_right_that_it_did_not_have() {
        let mut old = rustix::fs::stat("/").expect("there is a root");
        old.st_gid = 7;
        for (mode, same, other) in [
            (0o644, 0o644, 0o644),
            (0o640, 0o640, 0o600),
            (0o664, 0o664, 0o644),
            (0o604, 0o604, 0o600),
        ] {
            old.st_mode = 0o100_000 | mode;
            assert_eq!((kept_mode(&old, 7), kept_mode(&old, 8)), (same, other), "{mode:o}");
        }
    }
}
