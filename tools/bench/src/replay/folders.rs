//! The folders that programs run in.
//!
//! Nothing is removed before the end, and each folder is in a group of inodes of its own: ext4 without a
//! journal does not use an inode again whose file was removed a short while ago, and whoever makes
//! files pays for stepping over it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use tempfile::TempDir;

use super::Program;
use xtask::process;

/// The folders of all runs.
#[derive(Default)]
pub(crate) struct Folders {
    /// In each place, one for all of them.
    places: BTreeMap<PathBuf, TempDir>,
    /// What programs find, by what makes it.
    prepared: BTreeMap<String, TempDir>,
    runs: Vec<TempDir>,
}

impl Folders {
    /// An empty one.
    pub(super) fn empty(&mut self, place: &Path) -> Result<&Path> {
        if !self.places.contains_key(place) {
            let all = TempDir::new_in(place)?;
            let opened = File::open(all.path())?;
            // Other file systems know no such flag.
            let flags = ioctl_getflags(&opened);
            let _ = flags.and_then(|flags| ioctl_setflags(&opened, flags | IFlags::TOPDIR));
            self.places.insert(place.to_owned(), all);
        }
        self.runs.push(TempDir::new_in(&self.places[place])?);
        self.runs.last().map(TempDir::path).context("it was put there")
    }

    /// With what the program finds, all of it on the device.
    pub(crate) fn prepared(&mut self, program: &Program, place: &Path) -> Result<&Path> {
        if !self.prepared.contains_key(&program.prepare) {
            let made = TempDir::new_in("/dev/shm")?;
            let mut prepare = Command::new("sh");
            prepare.args(["-ec", &program.prepare]).current_dir(made.path());
            process::succeed(&mut prepare)?;
            self.prepared.insert(program.prepare.clone(), made);
        }
        let from = self.prepared[&program.prepare].path().join(".");
        let folder = self.empty(place)?.to_owned();
        process::succeed(Command::new("cp").arg("-a").arg(from).arg(&folder))?;
        rustix::fs::syncfs(File::open(folder)?)?;
        self.runs.last().map(TempDir::path).context("it was put there")
    }
}
