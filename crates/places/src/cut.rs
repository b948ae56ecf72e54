//! Cutting a tree's files to nothing: their space is free again, their inodes are not.
//!
//! The rules are those of every walk (see `walk.rs`). A file that has another name too is
//! not ours alone, so it is removed and not cut, as is all that is no regular file.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, Stat, fstat, ftruncate, statat, unlinkat};
use rustix::io::Errno;

use crate::error::WorkDirError;
use crate::removal::Failure;
use crate::walk::{Next, Visit, open_within, walk};

/// Cuts what is in a directory; says how many inodes are left in it.
pub fn cut_all(dir: BorrowedFd<'_>, path: &Path) -> Result<u64, WorkDirError> {
    let mut cut = Cut { left: 0, failure: None };
    walk(dir, path, &mut cut);
    cut.failure.map_or(Ok(cut.left), |failure| Err(failure.into()))
}

struct Cut {
    /// Inodes.
    left: u64,
    /// The first.
    failure: Option<Failure>,
}

impl Visit for Cut {
    fn entry(&mut self, dir: BorrowedFd<'_>, _: &Path, name: &CStr) -> Result<Next, Errno> {
        let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let next = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Next::Enter,
            FileType::RegularFile if stat.st_size == 0 && is_ours_alone(&stat) => Next::Done,
            FileType::RegularFile if cut_file(dir, name).unwrap_or(false) => Next::Done,
            _ => return unlinkat(dir, name, AtFlags::empty()).map(|()| Next::Done),
        };
        self.left += 1;
        Ok(next)
    }

    fn leave(&mut self, _: BorrowedFd<'_>, _: &CStr) -> Result<(), Errno> {
        Ok(())
    }

    fn failed(&mut self, path: &Path, error: Errno) {
        self.failure.get_or_insert_with(|| Failure { path: path.to_owned(), error });
    }
}

/// Whether it could be cut. Looked at once more when it is open: the name may by now be
/// another file's.
fn cut_file(dir: BorrowedFd<'_>, name: &CStr) -> Result<bool, Errno> {
    let file = open_within(dir, name, OFlags::WRONLY | OFlags::NONBLOCK)?;
    if !is_ours_alone(&fstat(&file)?) {
        return Ok(false);
    }
    ftruncate(&file, 0)?;
    Ok(true)
}

fn is_ours_alone(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};
    use std::os::fd::AsFd;
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
