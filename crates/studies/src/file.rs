//! What the studies share: files and folders in a slice's folder, and reads and
//! writes that are whole.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use engine::study::{Doing, StudyError};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, fsync, mkdirat, openat, statat};
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

/// Opens a folder within another, following no link.
#[inline]
pub(crate) fn open_folder(folder: impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

/// A folder that stays open for as long as a slice needs it.
pub(crate) fn keep_open(folder: impl AsFd) -> Result<OwnedFd, StudyError> {
    folder.as_fd().try_clone_to_owned().doing("keeping the folder open")
}

/// Which file or folder it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Of an open one.
    pub(crate) fn of(file: impl AsFd) -> Result<Self, Errno> {
        Ok(Self::from(&fstat(file)?))
    }

    /// The file system's number.
    pub(crate) fn device(self) -> u64 {
        self.device
    }
}

impl From<&Stat> for FileId {
    fn from(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// Where a folder stands, for those who insist on a path, such as users' servers.
pub(crate) struct Standing {
    path: PathBuf,
    id: FileId,
}

impl Standing {
    /// Of an open folder.
    pub(crate) fn of(folder: impl AsFd) -> Result<Self, StudyError> {
        const FINDING: &str = "finding the folder's path";
        let link = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        let path = std::fs::read_link(link).doing(FINDING)?;
        let standing = Self { path, id: FileId::of(folder).doing(FINDING)? };
        standing.check()?;
        Ok(standing)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// An error unless what stands at the path is still the folder: somebody may have
    /// had those who go by the path work elsewhere.
    pub(crate) fn check(&self) -> Result<(), StudyError> {
        let found = statat(CWD, &self.path, AtFlags::SYMLINK_NOFOLLOW);
        if found.is_ok_and(|stat| FileId::from(&stat) == self.id) {
            return Ok(());
        }
        let why = format!(
            "{} is not the slice's folder any more: something moved or replaced it; choose a \
             place in which nobody else may rename directories",
            self.path.display()
        );
        Err(StudyError::Refused { doing: "working in a folder by its path", why })
    }
}

/// Makes a folder for this user alone.
pub(crate) fn make_folder(folder: impl AsFd, name: &CStr) -> Result<(), StudyError> {
    mkdirat(folder, name, Mode::RWXU).doing("making a folder")
}

/// The same where another client may have made it.
pub(crate) fn make_common_folder(folder: impl AsFd, name: &CStr) -> Result<(), StudyError> {
    match mkdirat(folder, name, Mode::RWXU) {
        Err(Errno::EXIST) => Ok(()),
        made => made.doing("making a folder"),
    }
}

/// Forces a folder's own entries to the device: without it, a crash may leave a
/// file without its name.
pub(crate) fn sync_folder(folder: impl AsFd, name: &CStr) -> Result<(), StudyError> {
    const SYNCING: &str = "forcing a folder to the device";
    open_folder(folder, name).and_then(fsync).doing(SYNCING)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_that_was_moved_or_replaced_does_not_stand_where_it_was() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let [path, moved] = ["folder", "moved"].map(|name| place.join(name));
        fs::create_dir(&path).unwrap();
        let standing = Standing::of(File::open(&path).unwrap()).unwrap();
        assert_eq!(standing.path(), path);
        fs::rename(&path, &moved).unwrap();
        assert!(standing.check().unwrap_err().to_string().contains("moved or replaced"));
        fs::create_dir(&path).unwrap();
        assert!(standing.check().is_err());
        fs::remove_dir(&path).unwrap();
        symlink(&moved, &path).unwrap();
        assert!(standing.check().is_err());
        fs::remove_file(&path).unwrap();
        fs::rename(&moved, &path).unwrap();
        standing.check().unwrap();
    }
}
