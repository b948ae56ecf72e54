//! What can be wrong with a place, each in a sentence that says what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use model::ownership::Objection;
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
    /// Any other reason that is known, and what to do about it.
    #[error("{0}")]
    Refused(String),
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

impl WorkDirError {
    pub(crate) fn refused(place: &PlaceName, why: impl fmt::Display) -> Self {
        Self::Refused(format!("{place}: {why}"))
    }

    /// Root does not work in a directory that other users can replace.
    pub(crate) fn objected(place: &PlaceName, objection: &Objection) -> Self {
        let why = match objection {
            Objection::OthersOwn { directory, uid } => format!(
                "{} belongs to the user with UID {uid}, who could redirect what root writes below \
                 it; run as that user (`sudo -u '#{uid}' iotoll …`), or pass a directory that root \
                 owns, as well as everything above it",
                directory.display()
            ),
            Objection::OthersRename { directory, mode } => format!(
                "users other than root can rename what is in {0} (mode {mode:04o}) and so redirect \
                 what root writes below it; remove that permission (`chmod go-w {0}`), or pass \
                 another directory",
                directory.display()
            ),
        };
        Self::refused(place, why)
    }
}
