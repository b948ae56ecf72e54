//! What the kernel says of a path or an open file: its device and its mount.

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Stat, Statx, StatxFlags, fstat, major, minor, stat, statx,
};
use rustix::io::Errno;

/// A block device's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceNumber {
    /// The driver's.
    pub major: u32,
    /// The device's own.
    pub minor: u32,
}

impl DeviceNumber {
    /// From the kernel's `major:minor`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Whether it stands for no device: file systems without one are numbered under
    /// major 0, in the order of their mounting.
    pub fn is_anonymous(self) -> bool {
        self.major == 0
    }

    /// As `stat` packs it.
    pub fn packed(self) -> u64 {
        rustix::fs::makedev(self.major, self.minor)
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// What the kernel says of a path or an open directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity {
    /// The mount that it was reached through (since Linux 5.8).
    pub mount_id: Option<u64>,
    /// Its `st_dev`.
    pub device: Option<DeviceNumber>,
    /// Where it is a block device's node: that device.
    pub node: Option<DeviceNumber>,
}

impl Identity {
    /// Of an open file or directory.
    pub fn of(file: impl AsFd) -> io::Result<Self> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        match statx(&file, "", AtFlags::EMPTY_PATH, wanted) {
            Err(error) if is_missing(error) => Ok(Self::from_stat(&fstat(file)?)),
            found => Ok(Self::from_statx(&found?)),
        }
    }

    pub(crate) fn of_path(path: &Path) -> io::Result<Self> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        match statx(CWD, path, AtFlags::empty(), wanted) {
            Err(error) if is_missing(error) => Ok(Self::from_stat(&stat(path)?)),
            found => Ok(Self::from_statx(&found?)),
        }
    }

    /// Mounts are then found by device.
    fn from_stat(stat: &Stat) -> Self {
        let number = |packed| DeviceNumber { major: major(packed), minor: minor(packed) };
        let is_node = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        Self {
            mount_id: None,
            device: Some(number(stat.st_dev)),
            node: is_node.then(|| number(stat.st_rdev)),
        }
    }

    fn from_statx(stat: &Statx) -> Self {
        let told = StatxFlags::from_bits_retain(stat.stx_mask);
        let is_node = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::BlockDevice;
        let node = DeviceNumber { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor };
        Self {
            mount_id: told.contains(StatxFlags::MNT_ID).then_some(stat.stx_mnt_id),
            device: Some(DeviceNumber { major: stat.stx_dev_major, minor: stat.stx_dev_minor }),
            node: is_node.then_some(node),
        }
    }
}

/// Kernels before 4.11 lack statx(2), and filters of older containers refuse it.
fn is_missing(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::PERM)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn without_statx_devices_are_the_same() {
        for path in ["/", "/dev/null", "/proc"] {
            let (with, without) = (Identity::of_path(path.as_ref()).unwrap(), stat(path).unwrap());
            let without = Identity::from_stat(&without);
            assert_eq!((with.device, with.node), (without.device, without.node), "{path}");
        }
    }
}
