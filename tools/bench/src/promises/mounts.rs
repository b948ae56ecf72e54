//! File systems upon the disk: made, mounted, unmounted, and gone however this ends.
//!
//! All is mounted in a mount namespace of our own. It ends with its last process, and
//! with it every mount; a loop device that mount(8) has set up goes when the mount does.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::thread::UnshareFlags;

use xtask::process;

/// A mount is in use for a moment longer where something looks at all mounts.
const BUSY_TRIES: u32 = 50;
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// A file system that can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
}

impl FileSystem {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// About the smallest that each can be.
    pub(super) fn disk_bytes(self) -> u64 {
        match self {
            Self::Ext4 => 64 << 20,
            Self::Xfs => 320 << 20,
            Self::Btrfs => 256 << 20,
        }
    }

    /// Makes it on the disk.
    pub(super) fn make(self, disk: &Path) -> Result<()> {
        let words: &[&str] = match self {
            // All of it now, and nothing by a thread of the kernel later.
            Self::Ext4 => &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            Self::Xfs | Self::Btrfs => &["-q", "-f"],
        };
        let program = format!("mkfs.{}", self.name());
        let found = process::find_program(&program);
        let found = found.with_context(|| format!("{program} is not installed"))?;
        process::output(Command::new(found).args(words).arg(disk)).map(drop)
    }

    /// Repairs it on the disk, as its administrator would; whether there was a way to.
    /// What needs it is a superblock that was torn: those of ext4 and btrfs are longer
    /// than a sector and have a checksum, and there are copies.
    pub(super) fn repair(self, disk: &Path) -> Result<bool> {
        // What each says when errors were there and are corrected.
        let (program, words, corrected): (_, &[&str], _) = match self {
            Self::Ext4 => ("e2fsck", &["-fy"], 1),
            Self::Btrfs => ("btrfs", &["rescue", "super-recover", "-y"], 2),
            Self::Xfs => return Ok(false),
        };
        let found = process::find_program(program);
        let found = found.with_context(|| format!("{program} is not installed"))?;
        let said = Command::new(found).args(words).arg(disk).output().context(program)?;
        Ok(said.status.code() == Some(corrected))
    }
}

/// Gives this thread, and all that it starts, mounts of their own, which end with them.
pub(super) fn by_ourselves() -> Result<()> {
    sys::mount_namespace::unshare(UnshareFlags::NEWNS)
        .context("getting mounts of our own, which takes root")?;
    let nothing_leaves = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", nothing_leaves).context("keeping our mounts to ourselves")
}

/// A mounted file system.
pub(super) struct Mounted {
    folder: PathBuf,
    is_there: bool,
}

impl Mounted {
    pub(super) fn new(system: FileSystem, disk: &Path, folder: &Path) -> Result<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-i", "-o", "loop,noatime", "-t", system.name()]).args([disk, folder]);
        process::output(&mut mount)?;
        Ok(Self { folder: folder.to_owned(), is_there: true })
    }

    /// Unmounts it, as at a shutdown.
    pub(super) fn unmount(mut self) -> Result<()> {
        let mut tries = 0;
        while let Err(error) = unmount(&self.folder, UnmountFlags::empty()) {
            tries += 1;
            if error != Errno::BUSY || tries == BUSY_TRIES {
                return Err(error).context(format!("unmounting {}", self.folder.display()));
            }
            sleep(BUSY_PAUSE);
        }
        self.is_there = false;
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.is_there {
            let _ = unmount(&self.folder, UnmountFlags::DETACH);
        }
    }
}
