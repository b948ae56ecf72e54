//! Why runs cannot be kept or found.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;
use units::counted;

/// Why runs cannot be kept or found.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no folder to keep them in.
    #[error("there is no home directory to keep runs in (HOME is not set); set IOTOLL_DIR")]
    NoHome,
    /// The folder, or one above it, is another user's.
    #[error(
        "{} belongs to user {owner}, so files in {} would not be safe there; set IOTOLL_DIR to a \
         directory of your own", of.display(), folder.display()
    )]
    Foreign {
        /// Where runs were to be kept.
        folder: PathBuf,
        /// What belongs to another.
        of: PathBuf,
        /// Who that is.
        owner: u32,
    },
    /// Others may exchange the folder for another.
    #[error(
        "{} may be written by other users, so files in {} would not be safe there; set \
         IOTOLL_DIR to a directory of your own", of.display(), folder.display()
    )]
    Exposed {
        /// Where runs were to be kept.
        folder: PathBuf,
        /// What others may write.
        of: PathBuf,
    },
    /// The file system refuses.
    #[error("{}: {action} failed: {source}{}", path.display(), of_system(source))]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What was done.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A newer version made it.
    #[error(
        "{} was written by a newer version of iotoll (format {found}; this version knows {known}) \
         and was left unchanged; upgrade iotoll, or set IOTOLL_DIR to another directory",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i32,
        /// The newest that is known here.
        known: i32,
    },
    /// Another program's.
    #[error(
        "{} is not an iotoll database and was left unchanged; set IOTOLL_DIR to another directory",
        path.display()
    )]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// What it holds cannot be read.
    #[error("{} is damaged: {why}; move it away to begin another", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A saved run is not what was saved.
    #[error(
        "the saved run {run} is damaged: its checksum in {} does not match, so it is neither shown \
         nor used; remove it with `iotoll prune {run}` and measure again, and check the disk",
        path.display()
    )]
    DamagedRun {
        /// The beginning of its name.
        run: String,
        /// The database.
        path: PathBuf,
    },
    /// The database refuses.
    #[error("{}: {action} failed: {source}{}", path.display(), of_database(source))]
    Database {
        /// The database.
        path: PathBuf,
        /// What was done.
        action: &'static str,
        /// Why it failed.
        source: rusqlite::Error,
    },
    /// A run's record cannot be written as JSON.
    #[error("a run's record cannot be written as JSON: {0}")]
    Json(#[source] serde_json::Error),
    /// No run has that name.
    #[error("no saved run has a name that begins with {0}")]
    NoSuchRun(String),
    /// There are not so many runs.
    #[error("there is no {given}: `iotoll history` has only {}", counted(u64::from(*count), "run"))]
    TooFarBack {
        /// What was given.
        given: String,
        /// How many there are.
        count: u32,
    },
    /// It goes on.
    #[error("{0} is still running; stop it first, or wait for it to finish")]
    StillRunning(String),
    /// Several runs have it.
    #[error(
        "{given} is ambiguous, because several saved runs begin with it: {}; give more of the name",
        names.join(", ")
    )]
    Ambiguous {
        /// What was given.
        given: String,
        /// The names of all.
        names: Vec<String>,
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
            Some(ErrorCode::NotADatabase) => Self::NotOurs { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, why: source.to_string() },
            _ => Self::Database { path, action, source },
        }
    }
}
