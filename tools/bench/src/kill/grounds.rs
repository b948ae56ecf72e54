//! The file systems on which runs are killed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use xtask::pool::Skipped;
use xtask::process;

/// File systems in a file.
const IMAGES: [(&str, &[&str]); 3] = [
    ("ext4", &["mkfs.ext4", "-q"]),
    ("xfs", &["mkfs.xfs", "-q"]),
    ("btrfs", &["mkfs.btrfs", "-q"]),
];
/// Room for every study.
pub(super) const USUAL_BYTES: u64 = 512 << 20;
/// Room for images besides.
pub(super) const BYTES_FOR_IMAGES: u64 = 1 << 30;
/// Where the files are, for a disk that others use would only be waited for.
const MEMORY: &str = "/dev/shm";

/// A folder on a file system.
pub(crate) struct Ground {
    pub(crate) name: String,
    /// Where it is, with the image that is mounted there.
    folder: TempDir,
    is_mounted: bool,
}

impl Ground {
    /// Where runs are killed.
    pub(crate) fn path(&self) -> PathBuf {
        if self.is_mounted { mount_point(&self.folder) } else { self.folder.path().to_owned() }
    }

    pub(super) fn folder(name: &str, parent: &Path) -> Result<Self> {
        let folder = TempDir::new_in(parent).with_context(|| parent.display().to_string())?;
        Ok(Self { name: name.to_owned(), folder, is_mounted: false })
    }

    /// A file system in a file in memory, mounted through a loop device.
    fn image(name: &str, mkfs: &[&str], bytes: u64) -> Result<Self> {
        let mut ground = Self::folder(name, Path::new(MEMORY))?;
        let image = ground.folder.path().join("image");
        File::create(&image)?.set_len(bytes)?;
        std::fs::create_dir(mount_point(&ground.folder))?;
        process::output(Command::new(mkfs[0]).args(&mkfs[1..]).arg(&image))?;
        let mut mount = Command::new("mount");
        process::output(mount.args(["-o", "loop"]).arg(&image).arg(mount_point(&ground.folder)))?;
        ground.is_mounted = true;
        Ok(ground)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if self.is_mounted {
            // What a lane that failed still has open goes with whatever has it open.
            let mut umount = Command::new("umount");
            let _ = umount.arg("--lazy").arg(mount_point(&self.folder)).status();
        }
    }
}

fn mount_point(folder: &TempDir) -> PathBuf {
    folder.path().join("mounted")
}

/// All that can be had here, and what cannot.
pub(crate) fn all(bytes: u64) -> Result<(Vec<Ground>, Skipped)> {
    let mut grounds = vec![Ground::folder("tmpfs", Path::new(MEMORY))?];
    let mut skipped = Vec::new();
    for (name, mkfs) in IMAGES {
        match Ground::image(name, mkfs, bytes) {
            Ok(ground) => grounds.push(ground),
            Err(why) => skipped.push(format!("{name}: {why:#}")),
        }
    }
    Ok((grounds, skipped))
}

/// What needs no rights: memory, and where temporary files are.
pub(crate) fn usual() -> Result<Vec<Ground>> {
    let temporary = std::env::temp_dir();
    Ok(vec![Ground::folder("tmpfs", Path::new(MEMORY))?, Ground::folder("temporary", &temporary)?])
}
