//! What runs leave is put aside, not removed, until the trial ends.
//!
//! ext4 without a journal steps over each inode of the last minutes' removals when it makes a file:
//! a command that makes 300 files took twice as long after 40 runs, and only on the disk. So files are
//! cut to nothing, which frees their space, and keep their inodes.

use std::cell::RefCell;
use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use places::cut_all;
use rustix::fs::statvfs;

use crate::copy::remove;
use crate::error::{At as _, Error};

/// No more inodes than this are put aside, which take about a second to remove …
const INODES_MAX: u64 = 1 << 16;
/// … nor more than this share of the free ones.
const INODES_SHARE: u64 = 8;

/// A folder for what is put aside, on the file system of the copies.
#[derive(Clone, Debug)]
pub(crate) struct Aside {
    folder: PathBuf,
    kept: Rc<RefCell<Kept>>,
}

#[derive(Debug)]
struct Kept {
    /// How often something was put there.
    times: u64,
    inodes: u64,
    inodes_max: u64,
}

impl Aside {
    /// One that is made in a folder when it is needed.
    pub(crate) fn within(folder: &Path) -> Self {
        let free = statvfs(folder).map_or(0, |space| space.f_favail);
        Self::of(folder.join("aside"), INODES_MAX.min(free / INODES_SHARE))
    }

    /// Memory needs none: there all is removed.
    pub(crate) fn nowhere() -> Self {
        Self::of(PathBuf::new(), 0)
    }

    fn of(folder: PathBuf, inodes_max: u64) -> Self {
        Self { folder, kept: Rc::new(RefCell::new(Kept { times: 0, inodes: 0, inodes_max })) }
    }

    /// Whether a path is the folder.
    pub(crate) fn is(&self, path: &Path) -> bool {
        self.folder == path
    }

    /// Puts aside what is at these paths, or removes it where there is no room for more.
    pub(crate) fn put<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<(), Error> {
        let mut kept = self.kept.borrow_mut();
        let into = self.folder.join(kept.times.to_string());
        for (number, path) in paths.into_iter().enumerate() {
            if number == 0 && kept.inodes < kept.inodes_max {
                kept.times += 1;
                fs::create_dir_all(&into).at("making", &into)?;
            }
            // It may be gone, or be a folder that its owner may not change.
            if fs::rename(path, into.join(number.to_string())).is_err() {
                remove(path)?;
            }
        }
        let cut = File::open(&into).map(|opened| cut_all(opened.as_fd(), &into));
        match cut {
            Ok(Ok(inodes)) => kept.inodes += inodes,
            Ok(Err(_)) => remove(&into)?,
            // Nothing was put there.
            Err(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn what_is_put_aside_keeps_its_inode_and_not_its_space_until_there_is_no_room() {
        let place = tempfile::tempdir().unwrap();
        let aside = Aside::within(place.path());
        aside.kept.borrow_mut().inodes_max = 3;
        let put = |name: &str| {
            let path = place.path().join(name);
            fs::create_dir_all(path.join("deep")).unwrap();
            fs::write(path.join("deep/file"), b"contents").unwrap();
            let inode = fs::metadata(path.join("deep/file")).unwrap().ino();
            aside.put([&path]).unwrap();
            assert!(!path.exists());
            inode
        };
        let inode = put("first");
        let kept = fs::metadata(place.path().join("aside/0/0/deep/file")).unwrap();
        assert_eq!((kept.ino(), kept.len()), (inode, 0));
        put("second");
        assert!(!place.path().join("aside/1").exists(), "three inodes are all that it may keep");
    }

    #[test]
    fn what_cannot_be_put_aside_is_removed_and_what_is_gone_is_fine() {
        let place = tempfile::tempdir().unwrap();
        let aside = Aside::within(place.path());
        let (locked, gone) = (place.path().join("locked"), place.path().join("gone"));
        fs::create_dir_all(locked.join("deep")).unwrap();
        fs::set_permissions(locked.join("deep"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
        aside.put([&locked, &gone]).unwrap();
        assert!(!locked.exists());
    }
}
