//! The folders within a working folder: one for each slice, and one for each arm.
//!
//! What a slice leaves is not removed at once. ext4 without a journal steps over every
//! inode of the last minutes' removals when it makes a file, so that each slice would
//! make the next one slower. The files are cut to nothing, which frees their space, and
//! put aside until the working folder goes; beyond a bound the oldest are removed.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::os::fd::BorrowedFd;

use model::place::PlaceFacts;
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

use crate::cut::cut_all;
use crate::error::WorkDirError;
use crate::folder::Folder;
use crate::space::Need;
use crate::workdir::WorkDir;

/// No more inodes than this are put aside, which take about a second to remove.
const ASIDE_INODES_MAX: u64 = 1 << 16;
/// Nor more than this share of a place's free inodes …
const ASIDE_INODES_SHARE: u64 = 8;
/// … and of its free space, were each to take …
const ASIDE_SPACE_SHARE: u64 = 32;
/// … as much as a folder does.
const ASIDE_INODE_BYTES: u64 = 4096;

/// Files of finished slices wait until there is time to put them aside: at most this many bytes …
const LEFT_BYTES_MAX: u64 = 64 << 20;
/// … and this share of a place's free space.
const LEFT_SPACE_SHARE: u64 = 64;

/// Folders are called by numbers from somewhere above this one on. ext4 chooses a folder's group of
/// inodes by its name: with the names of the last run, a run would find what that removed.
const FIRST: u64 = 1_000_000;

/// The most that is put aside in a place.
pub fn aside_max(place: &PlaceFacts) -> Need {
    let inodes = aside_inodes_max(place);
    Need { bytes: inodes * ASIDE_INODE_BYTES, files: inodes }
}

/// The most that slices may have left in a place before it is put aside; nothing where a place
/// does not say how much is free.
pub fn left_max(place: &PlaceFacts) -> Need {
    let bytes = LEFT_BYTES_MAX.min(place.free_bytes / LEFT_SPACE_SHARE);
    Need { bytes, files: aside_inodes_max(place) / ASIDE_INODES_SHARE }
}

fn aside_inodes_max(place: &PlaceFacts) -> u64 {
    let by_inodes = place.free_inodes.map_or(u64::MAX, |free| free / ASIDE_INODES_SHARE);
    let by_space = match place.total_bytes {
        // It does not say.
        0 => u64::MAX,
        _ => place.free_bytes / ASIDE_SPACE_SHARE / ASIDE_INODE_BYTES,
    };
    ASIDE_INODES_MAX.min(by_inodes).min(by_space)
}

/// A working folder with the folders of slices and arms in it, all of which go with it.
#[derive(Debug)]
pub struct PlaceFolders {
    work: WorkDir,
    slice: Option<InUse>,
    /// Of slices that are over.
    left: Vec<InUse>,
    /// Those in which nothing was left.
    empty: Vec<InUse>,
    arms: BTreeMap<usize, InUse>,
    /// What the next folder is called by.
    next: u64,
    aside: VecDeque<Aside>,
    aside_inodes: u64,
    aside_inodes_max: u64,
}

/// A folder that slices work in.
#[derive(Debug)]
struct InUse {
    name: String,
    folder: Folder,
}

/// What slices left.
#[derive(Debug)]
struct Aside {
    name: String,
    inodes: u64,
}

impl PlaceFolders {
    /// Folders in a place's working folder.
    pub fn new(work: WorkDir, place: &PlaceFacts) -> Self {
        spread(work.fd(), place);
        let aside_inodes_max = aside_inodes_max(place);
        Self {
            work,
            slice: None,
            left: Vec::new(),
            empty: Vec::new(),
            arms: BTreeMap::new(),
            next: FIRST + RandomState::new().hash_one(()) % FIRST,
            aside: VecDeque::new(),
            aside_inodes: 0,
            aside_inodes_max,
        }
    }

    /// The working folder.
    pub fn work(&self) -> &WorkDir {
        &self.work
    }

    /// An empty folder for one slice.
    pub fn slice(&mut self) -> Result<&Folder, WorkDirError> {
        let slice = match self.slice.take().or_else(|| self.empty.pop()) {
            Some(unused) => unused,
            None => self.make("slice")?,
        };
        Ok(&self.slice.insert(slice).folder)
    }

    fn make(&mut self, whose: &str) -> Result<InUse, WorkDirError> {
        let name = format!("{whose}-{}", self.next);
        let folder = self.work.subdir(&name)?;
        self.next += 1;
        Ok(InUse { name, folder })
    }

    /// An arm's folder, new and empty. What was in the one before is put aside.
    pub fn arm(&mut self, arm: usize) -> Result<&Folder, WorkDirError> {
        if let Some(used) = self.arms.remove(&arm) {
            let inodes = cut_all(used.folder.fd(), used.folder.path())?;
            self.keep_aside(&used.name, inodes)?;
        }
        let new = self.make("arm")?;
        Ok(&self.arms.entry(arm).or_insert(new).folder)
    }

    /// The slice is over; others may have folders before this one's is put aside.
    pub fn leave(&mut self) {
        self.left.extend(self.slice.take());
    }

    /// Puts aside what a slice left in its folder. One that is empty serves another, too.
    pub fn put_aside(&mut self) -> Result<(), WorkDirError> {
        let Some(left) = self.left.pop() else { return Ok(()) };
        match cut_all(left.folder.fd(), left.folder.path())? {
            0 => self.empty.push(left),
            inodes => self.keep_aside(&left.name, inodes)?,
        }
        Ok(())
    }

    /// Keeps a folder, with so many inodes in it, under another name until the end.
    fn keep_aside(&mut self, name: &str, inodes: u64) -> Result<(), WorkDirError> {
        let aside = Aside { name: format!("aside-{name}"), inodes: inodes + 1 };
        self.work.rename_subdir(name, &aside.name)?;
        self.aside_inodes += aside.inodes;
        self.aside.push_back(aside);
        self.remove_beyond(self.aside_inodes_max)
    }

    /// Removes the oldest until no more than so many inodes are put aside.
    fn remove_beyond(&mut self, inodes_max: u64) -> Result<(), WorkDirError> {
        while self.aside_inodes > inodes_max
            && let Some(oldest) = self.aside.pop_front()
        {
            self.aside_inodes -= oldest.inodes;
            self.work.remove_subdir(&oldest.name)?;
        }
        Ok(())
    }

    /// Removes the working folder with all that is in it.
    pub fn remove(self) -> Result<(), WorkDirError> {
        self.work.remove()
    }
}

/// Has ext4 look for a group of inodes with few folders for each folder that is made in one, as it
/// does at the top of a file system: what operations remove, and what earlier runs removed
/// at their ends, then slows down few of the slices. A hint, which may be refused.
pub fn spread(folder: BorrowedFd<'_>, place: &PlaceFacts) {
    // Without a journal, ext4 does not give out an inode again for minutes after a file was removed
    // (`recently_deleted` in `fs/ext4/ialloc.c`): making a file steps over all of them in its group.
    if place.filesystem == "ext4" && place.journal == Some(false) {
        let flags = ioctl_getflags(folder);
        let _ = flags.and_then(|flags| ioctl_setflags(folder, flags | IFlags::TOPDIR));
    }
}
