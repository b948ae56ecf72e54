//! How a file is put in its place: written over what is there, or written aside
//! and renamed, with or without waiting for the device.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use engine::recorder::Recorder;
use engine::study::{Doing, StudyError};
use model::study::StrategySpec;
use rustix::fs::{OFlags, fsync, renameat};

use crate::choices::choices;
use crate::file::{open_for_writing, sync_folder, write_whole};

const OPENING: &str = "making a file";
const WRITING: &str = "writing a file";
const RENAMING: &str = "renaming a file to its place";
const SYNCING: &str = "forcing a file to the device";

/// Where a file is written aside. One at a time is.
pub(crate) const ASIDE: &CStr = c"aside.tmp";

choices! {
    /// How a file is put in its place, which is a strategy of several studies.
    pub(crate) enum Put {
        /// Written over what is there.
        Direct = "direct",
        /// Written aside and renamed.
        Rename = "rename",
        /// The same, waiting for the device.
        RenameFsync = "rename-fsync",
    }
}

/// The three as strategies, one of them by default.
pub(crate) const fn strategies(default: Put) -> [StrategySpec; 3] {
    let rename = matches!(default, Put::Rename);
    [
        StrategySpec {
            name: Put::Direct.name(),
            about: "write each file over what is in its place",
            promise: "after a crash, and for a reader meanwhile, a file may be incomplete",
            by_default: !rename,
        },
        StrategySpec {
            name: Put::Rename.name(),
            about: "write each file aside and rename it to its place",
            promise: "readers see the old file or the new one; after a power failure a file may \
                      be empty, cut short or zeros",
            by_default: rename,
        },
        StrategySpec {
            name: Put::RenameFsync.name(),
            about: "as rename, with fsync(2) of each file before and of its folder after",
            promise: "readers see the old file or the new one, also after a power failure",
            by_default: false,
        },
    ]
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
        recorder: &mut Recorder,
    ) -> Result<(), StudyError> {
        self.file_by(ASIDE, folder, path, bytes, recorder)
    }

    /// The same of one that is written aside under another name.
    pub(crate) fn file_by(
        self,
        aside: &CStr,
        folder: &OwnedFd,
        path: &CStr,
        bytes: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), StudyError> {
        let written = if self == Self::Direct { path } else { aside };
        let file = open_for_writing(folder, written, OFlags::TRUNC).doing(OPENING)?;
        recorder.changed_name();
        write_whole(&file, bytes, WRITING)?;
        if self == Self::RenameFsync {
            recorder.sync(|| fsync(&file)).doing(SYNCING)?;
        }
        drop(file);
        if self == Self::Direct {
            return Ok(());
        }
        recorder.changed_name();
        renameat(folder, aside, folder, path).doing(RENAMING)
    }

    /// Makes the names in a folder last, once its files are in their places.
    pub(crate) fn names(
        self,
        folder: &OwnedFd,
        within: &CStr,
        recorder: &mut Recorder,
    ) -> Result<(), StudyError> {
        if self == Self::RenameFsync {
            recorder.sync(|| sync_folder(folder, within))
        } else {
            Ok(())
        }
    }
}
