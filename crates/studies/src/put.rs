//! How a file is put in its place: written over what is there, or written aside
//! and renamed, with or without waiting for the device.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use engine::recorder::Recorder;
use engine::study::{Doing, StudyError};
use model::study::StrategySpec;
use rustix::fs::{OFlags, fsync, renameat};

use crate::file::{open_for_writing, sync_folder, write_whole};

const OPENING: &str = "making a file";
const WRITING: &str = "writing a file";
const RENAMING: &str = "renaming a file to its place";
const SYNCING: &str = "forcing a file to the device";

/// Where a file is written aside. One at a time is.
pub(crate) const ASIDE: &CStr = c"aside.tmp";

/// The ways, as strategies.
pub(crate) const fn strategies(default: &'static str) -> [StrategySpec; 3] {
    let rename = matches!(default.as_bytes(), b"rename");
    [
        StrategySpec {
            name: "direct",
            about: "write each file over what is in its place",
            promise: "a reader, or a crash, may find half a file",
            by_default: !rename,
        },
        StrategySpec {
            name: "rename",
            about: "write each file aside and rename it to its place",
            promise: "a reader finds the old file or the new; a power failure may leave it empty",
            by_default: rename,
        },
        StrategySpec {
            name: "rename-fsync",
            about: "as rename, with fsync(2) of each file before and of its folder after",
            promise: "a reader or a power failure finds the old file or the new",
            by_default: false,
        },
    ]
}

/// One of the ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    Direct,
    Rename,
    RenameFsync,
}

impl Put {
    /// The way of that name.
    pub(crate) fn of(strategy: &str) -> Self {
        match strategy {
            "direct" => Self::Direct,
            "rename" => Self::Rename,
            "rename-fsync" => Self::RenameFsync,
            other => unreachable!("there is no way {other} to put a file in its place"),
        }
    }

    /// Puts a file in its place.
    pub(crate) fn file(
        self,
        folder: &OwnedFd,
        path: &CStr,
        bytes: &[u8],
        recorder: &mut Recorder,
    ) -> Result<(), StudyError> {
        let written = if self == Self::Direct { path } else { ASIDE };
        let file = open_for_writing(folder, written, OFlags::TRUNC).doing(OPENING)?;
        write_whole(&file, bytes, WRITING)?;
        if self == Self::RenameFsync {
            recorder.sync(|| fsync(&file)).doing(SYNCING)?;
        }
        drop(file);
        if self == Self::Direct {
            return Ok(());
        }
        renameat(folder, ASIDE, folder, path).doing(RENAMING)
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
