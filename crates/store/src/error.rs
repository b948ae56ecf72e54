//! Why runs cannot be kept or found.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// Why runs cannot be kept or found.
#[derive(Debug, Error)]
pub enum Error {
    /// No run has that name.
    #[error("no saved run has a name that begins with {0}")]
    NoSuchRun(String),
    /// What is there cannot be used, and what to do.
    #[error("{0}")]
    Refused(String),
    /// The file system refuses.
    #[error("{}: {action} failed: {source}{}", path.display(), of_system(source))]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What was done.
        action: &'static str,
        /// Why it failed; no source of the error, whose words have it.
        source: io::Error,
    },
    /// The database refuses.
    #[error("{}: {action} failed: {source}{}", path.display(), of_database(source))]
    Database {
        /// The database.
        path: PathBuf,
        /// What was done.
        action: &'static str,
        /// Why it failed; no source of the error, whose words have it.
        source: rusqlite::Error,
    },
}

/// What to do about an error of the system, to be put behind it.
fn of_system(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FULL,
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => READ_ONLY,
        _ => "",
    }
}

/// The same of one of the database's.
fn of_database(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => FULL,
        Some(ErrorCode::ReadOnly) => READ_ONLY,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; another program holds it: end that program, or set IOTOLL_DIR to another directory"
        }
        // It tells no more, whatever the system said.
        Some(ErrorCode::SystemIoFailure) => {
            "; its file system may have become read-only, a quota may be used up, or the device \
             may fail: see the kernel log (dmesg), or set IOTOLL_DIR to another directory"
        }
        _ => "",
    }
}

const FULL: &str =
    "; free some space there, or set IOTOLL_DIR to a directory on another file system";
const READ_ONLY: &str = "; set IOTOLL_DIR to a directory that you may write to";

impl Error {
    /// There is no folder to keep runs in.
    pub(crate) fn no_home() -> Self {
        let why = "there is no home directory to keep runs in (HOME is not set); set IOTOLL_DIR";
        Self::Refused(why.to_owned())
    }

    /// The folder, or what is above it, is another user's.
    pub(crate) fn foreign(folder: &Path, of: &Path, owner: u32) -> Self {
        Self::Refused(format!(
            "{} belongs to user {owner}, so files in {} would not be safe there; set IOTOLL_DIR to \
             a directory of your own",
            of.display(),
            folder.display()
        ))
    }

    /// A file of another program's.
    pub(crate) fn not_ours(path: &Path) -> Self {
        Self::Refused(format!(
            "{} is not an iotoll database and was left unchanged; set IOTOLL_DIR to another \
             directory",
            path.display()
        ))
    }

    /// What a database holds cannot be read.
    pub(crate) fn damaged(path: &Path, why: impl Display) -> Self {
        Self::Refused(format!(
            "{} is damaged: {why}; move it away to begin another",
            path.display()
        ))
    }

    /// What a system call on a file or folder said.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }

    /// What the database said.
    pub(crate) fn database(
        path: &Path,
        action: &'static str,
    ) -> impl FnOnce(rusqlite::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::not_ours(&path),
            Some(ErrorCode::DatabaseCorrupt) => Self::damaged(&path, source),
            _ => Self::Database { path, action, source },
        }
    }
}
