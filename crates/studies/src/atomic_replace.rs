//! How a file is put in its place: written over what is there, or written aside
//! and renamed, with or without waiting for the device.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use model::study::StrategyDescription;
use rustix::fs::{OFlags, fsync, renameat};

use crate::choices::strategies;
use crate::file::{open_for_writing, sync_folder, write_whole};
use crate::rules::change;

const OPENING: &str = "making a file";
const WRITING: &str = "writing a file";
const RENAMING: &str = "renaming a file to its place";
const SYNCING: &str = "forcing a file to the device";

/// Where a file is written aside. One at a time is.
pub(crate) const ASIDE: &CStr = c"aside.tmp";

strategies! {
    /// How a file is put in its place, which is a strategy of several studies.
    pub(crate) enum Put {
        Direct = "direct", by_name {
            label: "write in place",
            about: "write each file in its place, over what may be there",
            promises: "after a crash, and for a reader meanwhile, a file may be incomplete",
            syncs: Never, relies_on: [], params: [], needs: None,
            recipe: change(
                "open(path, O_WRONLY|O_CREAT|O_TRUNC), write(2), close(2) (PHP: \
                 file_put_contents($path, $data))",
                "strace -f -e openat,rename,renameat -p PID shows the path opened, and no rename",
                "write to a temporary file and rename it to path",
            ),
        }
        Rename = "rename", by_name {
            label: "write aside and rename",
            about: "write each file aside and rename it to its place",
            promises: "readers see the old file or the new one; after a power failure a file may \
                       be empty, cut short or zeros",
            syncs: Never, relies_on: [], params: [], needs: None,
            recipe: change(
                "write path.tmp in the same folder, then rename(path.tmp, path) (PHP: \
                 file_put_contents($tmp, $data); rename($tmp, $path); Python: \
                 os.replace(tmp, path))",
                "strace -f -e rename,renameat,renameat2 -p PID shows a rename for each file",
                "write to path itself",
            ),
        }
        RenameFsync = "rename-fsync", by_name {
            label: "rename, with fsync",
            about: "as rename, with fsync(2) of each file before and of its folder after",
            promises: "readers see the old file or the new one, also after a power failure",
            syncs: Always, relies_on: [], params: [], needs: None,
            recipe: change(
                "write path.tmp, fsync(fd), rename(path.tmp, path), then fsync a descriptor of the \
                 folder (Python: os.fsync(f.fileno()); os.replace(tmp, path); os.fsync(folder_fd); \
                 PHP 8.1: fsync($file) before rename, and none of the folder)",
                "strace -f -e fsync,rename,renameat -p PID shows fsync before and after \
                 each rename",
                "leave both fsync calls out",
            ),
        }
    }
}

/// The three as strategies, one of them by default.
pub(crate) fn strategies(default: Put) -> Vec<StrategyDescription> {
    let mut strategies = Put::descriptions().to_vec();
    for strategy in &mut strategies {
        strategy.by_default = strategy.name == default.name();
    }
    strategies
}

impl Put {
    /// Whether the promise lets a power failure take a file, or leave a part of it.
    pub(crate) fn may_leave_a_part(self) -> bool {
        self != Self::RenameFsync
    }

    /// Puts a file in its place.
    pub(crate) fn file(
        self,
        folder: &OwnedFd,
        path: &CStr,
        bytes: &[u8],
        timer: &mut SliceTimer,
    ) -> Result<(), StudyError> {
        self.file_by(ASIDE, folder, path, bytes, timer)
    }

    /// The same of one that is written aside under another name.
    pub(crate) fn file_by(
        self,
        aside: &CStr,
        folder: &OwnedFd,
        path: &CStr,
        bytes: &[u8],
        timer: &mut SliceTimer,
    ) -> Result<(), StudyError> {
        let written = if self == Self::Direct { path } else { aside };
        let file = open_for_writing(folder, written, OFlags::TRUNC).doing(OPENING)?;
        timer.changed_name();
        write_whole(&file, bytes, WRITING)?;
        if self == Self::RenameFsync {
            timer.sync(|| fsync(&file)).doing(SYNCING)?;
        }
        drop(file);
        if self == Self::Direct {
            return Ok(());
        }
        timer.changed_name();
        renameat(folder, aside, folder, path).doing(RENAMING)
    }

    /// Makes the names in a folder last, once its files are in their places.
    pub(crate) fn names(
        self,
        folder: &OwnedFd,
        within: &CStr,
        timer: &mut SliceTimer,
    ) -> Result<(), StudyError> {
        if self == Self::RenameFsync { timer.sync(|| sync_folder(folder, within)) } else { Ok(()) }
    }
}
