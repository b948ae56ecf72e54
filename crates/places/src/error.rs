//! What can be wrong with a place, each in a sentence that says what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A place as its user knows it, written as it is given: `disk=/var/lib/app`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceName {
    /// Its label, where it has one: what is to be cleaned has none.
    pub label: Option<String>,
    /// Its path as it was given.
    pub path: PathBuf,
}

impl PlaceName {
    pub(crate) fn labelled(label: &str, path: &Path) -> Self {
        Self { label: Some(label.to_owned()), path: path.to_owned() }
    }

    pub(crate) fn bare(path: &Path) -> Self {
        Self { label: None, path: path.to_owned() }
    }
}

impl fmt::Display for PlaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.label {
            Some(label) => write!(f, "{label}={}", self.path.display()),
            None => write!(f, "{}", self.path.display()),
        }
    }
}

/// Why a place cannot be looked at.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// Nothing there.
    #[error("{0}: there is no such directory; create it, or pass one that exists")]
    Missing(PlaceName),
    /// A file system of the kernel's own, such as `/proc`.
    #[error("{0}: no files can be made in this directory; pass one on a disk or in memory")]
    TakesNoFiles(PlaceName),
    /// Something else than a directory there.
    #[error("{0}: this is not a directory; pass the directory that holds it")]
    NotADirectory(PlaceName),
    /// Permission is lacking on the way to it.
    #[error(
        "{0}: permission to reach this directory is denied; pass one that you may enter, or run \
         as a user who may"
    )]
    Denied(PlaceName),
    /// A component beyond 255 bytes, or the whole beyond what a path may be.
    #[error(
        "{0}: the path is too long to work in; pass a shorter one, or mount the directory nearer"
    )]
    TooLong(PlaceName),
    /// Anything else that the system says.
    #[error("{place}: {action} failed: {source}; check the path and what is mounted there")]
    Io {
        /// Where.
        place: PlaceName,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl PlaceError {
    /// What an error of the system means when a place is opened or looked at.
    pub(crate) fn from_io(place: &PlaceName, action: &'static str, source: io::Error) -> Self {
        let place = place.clone();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing(place),
            io::ErrorKind::NotADirectory => Self::NotADirectory(place),
            io::ErrorKind::PermissionDenied => Self::Denied(place),
            io::ErrorKind::InvalidFilename => Self::TooLong(place),
            _ => Self::Io { place, action, source },
        }
    }
}

/// Why a working folder cannot be made, used or removed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkDirError {
    /// The place itself cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The directory may be looked at, not written to.
    #[error(
        "{0}: you may not write to this directory; pass one that you may write to, or run as its \
         owner"
    )]
    NotWritable(PlaceName),
    /// Root would work where somebody else owns a directory on the way.
    #[error(
        "{place}: {} belongs to the user with UID {uid}, who could redirect what root writes below \
         it; run as that user (`sudo -u '#{uid}' iotoll …`), or pass a directory that root owns, \
         as well as everything above it", directory.display()
    )]
    OthersOwn {
        /// Where.
        place: PlaceName,
        /// The directory, the place or one above it.
        directory: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// Root would work where others may rename a directory on the way.
    #[error(
        "{place}: users other than root can rename what is in {0} (mode {mode:04o}) and so \
         redirect what root writes below it; remove that permission (`chmod go-w {0}`), or pass \
         another directory", directory.display()
    )]
    OthersRename {
        /// Where.
        place: PlaceName,
        /// The directory, the place or one above it.
        directory: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Mounted read-only, or turned so after an error of the device.
    #[error(
        "{0}: the file system is mounted read-only; remount it for writing, or pass a directory \
         on another. If it took files before, see the kernel log (dmesg)"
    )]
    ReadOnly(PlaceName),
    /// No block left, not even for the folder.
    #[error("{0}: no space is left on the file system; free some, or pass another directory")]
    NoSpace(PlaceName),
    /// Space, but no room for another file.
    #[error(
        "{0}: the file system has no inodes left for another file (see `df -i`); remove files, or \
         pass another directory"
    )]
    NoInodes(PlaceName),
    /// This user's share is used up.
    #[error("{0}: your quota on this file system is used up; free some, or pass another directory")]
    Quota(PlaceName),
    /// Without locks a live folder cannot be told from a leftover.
    #[error(
        "{place}: the file system cannot lock files ({source}), and without a lock a live working \
         folder cannot be told from a leftover; mount it with locks, or pass another directory"
    )]
    NoLocks {
        /// Where.
        place: PlaceName,
        /// What the system said.
        source: io::Error,
    },
    /// Something took away every folder as it was made.
    #[error(
        "{0}: working folders vanish or are replaced as they are made; find what removes or \
         renames `.iotoll-*` folders there, and stop it"
    )]
    Vanishing(PlaceName),
    /// Not a name for a sub-folder.
    #[error(
        "`{0}` is not a name for a sub-folder: use a single, short file name other than `lock`"
    )]
    Name(String),
    /// A part of the folder could not be removed.
    #[error(
        "{path}: could not be removed: {source}; once that is resolved, run `iotoll clean` on the \
         place"
    )]
    Remove {
        /// What is left.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else that the system says.
    #[error("{path}: {action} failed: {source}; check the file system there")]
    Io {
        /// What it happened to.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },
}
