//! Cutting a tree's files to nothing: their space is free again, their inodes are not.
//!
//! The rules are those of a removal: every step is relative to an open directory, no
//! link is followed and no other mount entered. A file that has another name too is not
//! ours alone, so it is removed and not cut, as is all that is no regular file.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, Stat, fstat, ftruncate, statat};
use rustix::io::Errno;

use crate::removal::{Failure, Removal, names, open_child, open_within};

/// Cuts what is in a directory; says how many inodes are left in it.
pub(crate) fn cut_all(dir: BorrowedFd<'_>, path: &Path) -> Result<u64, Failure> {
    let mut left = 0;
    for name in names(dir).map_err(|error| Failure { path: path.to_owned(), error })? {
        let inner = path.join(OsStr::from_bytes(name.to_bytes()));
        if let Some(inodes) = cut_entry(dir, &inner, &name)? {
            left += inodes;
        } else {
            let mut removal = Removal::default();
            removal.entry(dir, path, &name);
            removal.finish()?;
        }
    }
    Ok(left)
}

/// The inodes that are left of an entry; nothing where it has to be removed.
fn cut_entry(dir: BorrowedFd<'_>, path: &Path, name: &CStr) -> Result<Option<u64>, Failure> {
    let fail = |error| Failure { path: path.to_owned(), error };
    let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            let child = open_child(dir, name).map_err(fail)?;
            cut_all(child.as_fd(), path).map(|inodes| Some(inodes + 1))
        }
        FileType::RegularFile if stat.st_size == 0 && is_ours_alone(&stat) => Ok(Some(1)),
        FileType::RegularFile => Ok(cut_file(dir, name).ok().flatten()),
        _ => Ok(None),
    }
}

/// Looked at once more when it is open: the name may by now be another file's.
fn cut_file(dir: BorrowedFd<'_>, name: &CStr) -> Result<Option<u64>, Errno> {
    let file = open_within(dir, name, OFlags::WRONLY | OFlags::NONBLOCK)?;
    if !is_ours_alone(&fstat(&file)?) {
        return Ok(None);
    }
    ftruncate(&file, 0)?;
    Ok(Some(1))
}

fn is_ours_alone(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};
    use std::os::unix::fs::{MetadataExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn files_of_ours_alone_are_cut_and_what_others_share_is_left_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let (ours, others) = (place.path().join("ours"), place.path().join("others"));
        fs::create_dir_all(ours.join("sub")).unwrap();
        fs::create_dir(&others).unwrap();
        for file in ["ours/one", "ours/sub/two", "others/linked", "others/pointed-at"] {
            fs::write(place.path().join(file), [7; 5000]).unwrap();
        }
        fs::write(ours.join("empty"), "").unwrap();
        fs::hard_link(others.join("linked"), ours.join("linked")).unwrap();
        symlink(others.join("pointed-at"), ours.join("link")).unwrap();
        symlink(&others, ours.join("folder-link")).unwrap();
        drop(UnixListener::bind(ours.join("socket")).unwrap());
        let inode = fs::metadata(ours.join("one")).unwrap().ino();

        let dir = File::open(&ours).unwrap();
        assert_eq!(cut_all(dir.as_fd(), &ours).unwrap(), 4, "one, empty, sub and two");
        let size = |path: &str| fs::metadata(place.path().join(path)).unwrap().len();
        assert_eq!((size("ours/one"), size("ours/sub/two")), (0, 0));
        assert_eq!(fs::metadata(ours.join("one")).unwrap().ino(), inode);
        assert_eq!((size("others/linked"), size("others/pointed-at")), (5000, 5000));
        assert_eq!(fs::read_dir(&ours).unwrap().count(), 3);
    }
}
