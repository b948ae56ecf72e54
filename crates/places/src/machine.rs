//! Where `/proc`, `/sys` and `/dev` are, and what the kernel says of a path.
//!
//! Everything that reads them goes through a [`Machine`], so that a tree of plain files
//! in a temporary folder can stand for a machine with disks that this one lacks.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Statx, StatxFlags, statx};

/// A block device's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl DeviceNumber {
    /// From the kernel's `major:minor`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Whether it stands for no device: file systems without one are numbered under
    /// major 0, in the order of their mounting.
    pub(crate) fn is_anonymous(self) -> bool {
        self.major == 0
    }

    /// As `stat` packs it.
    pub(crate) fn packed(self) -> u64 {
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
pub(crate) struct Identity {
    /// The mount that it was reached through (since Linux 5.8).
    pub(crate) mount_id: Option<u64>,
    /// Its `st_dev`.
    pub(crate) device: Option<DeviceNumber>,
    /// Where it is a block device's node: that device.
    pub(crate) node: Option<DeviceNumber>,
}

impl Identity {
    /// Of an open file or directory.
    pub(crate) fn of(file: impl AsFd) -> io::Result<Self> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        Ok(Self::from_statx(&statx(file, "", AtFlags::EMPTY_PATH, wanted)?))
    }

    fn of_path(path: &Path) -> io::Result<Self> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        Ok(Self::from_statx(&statx(CWD, path, AtFlags::empty(), wanted)?))
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

/// A machine's files, and how its paths are identified.
pub(crate) struct Machine {
    root: PathBuf,
    identify: fn(&Path) -> io::Result<Identity>,
}

impl Machine {
    /// The one that this runs on.
    pub(crate) fn real() -> Self {
        Self { root: PathBuf::from("/"), identify: Identity::of_path }
    }

    /// One made of plain files, whose paths exist but have no identity of their own; a
    /// file that holds a device's numbers stands for its node.
    #[cfg(test)]
    pub(crate) fn made(root: &Path) -> Self {
        let identify = |path: &Path| {
            fs::metadata(path)?;
            let node = attribute(path).and_then(|text| DeviceNumber::parse(&text));
            Ok(Identity { node, ..Identity::default() })
        };
        Self { root: root.to_owned(), identify }
    }

    /// Where a path of that machine is to be found on this one.
    pub(crate) fn locate(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub(crate) fn identify(&self, path: &Path) -> io::Result<Identity> {
        (self.identify)(&self.locate(path))
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        fs::read(self.locate(path))
    }
}

/// One attribute of `/sys`: a file with a line of text, `None` where it is missing,
/// unreadable or empty.
pub(crate) fn attribute(path: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
