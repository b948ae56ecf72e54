//! How much a file system has left, from statvfs(3).

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{StatVfs, StatVfsMountFlags, fstatvfs};

/// What is left of a file system, for this user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSystemSpace {
    /// Whether nothing can be written.
    pub read_only: bool,
    /// What it holds in all; 0 where it does not say.
    pub total_bytes: u64,
    /// What may still be written.
    pub free_bytes: u64,
    /// How many files it holds in all, where there is a limit.
    pub total_inodes: Option<u64>,
    /// How many files may still be made, where there is a limit.
    pub free_inodes: Option<u64>,
}

impl FileSystemSpace {
    /// That of the file system that an open file or directory is on.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        Ok(Self::from_statvfs(&fstatvfs(file)?))
    }

    fn from_statvfs(stat: &StatVfs) -> Self {
        Self {
            read_only: stat.f_flag.contains(StatVfsMountFlags::RDONLY),
            total_bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            free_bytes: stat.f_bavail.saturating_mul(stat.f_frsize),
            // btrfs and others that make inodes as they need them say 0 of 0.
            total_inodes: (stat.f_files > 0).then_some(stat.f_files),
            free_inodes: (stat.f_files > 0).then_some(stat.f_favail),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::File;

    use super::*;

    #[test]
    fn a_file_system_has_at_least_what_is_free_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let space = FileSystemSpace::of(File::open(folder.path()).unwrap()).unwrap();
        assert!(!space.read_only);
        assert!(space.free_bytes > 0 && space.free_bytes <= space.total_bytes, "{space:?}");
        // sysfs counts nothing.
        let space = FileSystemSpace::of(File::open("/sys").unwrap()).unwrap();
        assert_eq!((space.total_bytes, space.free_inodes), (0, None));
    }
}
