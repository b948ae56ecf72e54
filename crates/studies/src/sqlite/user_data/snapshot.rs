//! A copy of a SQLite database that other programs may have open and be writing to.
//!
//! It is SQLite's own online backup (<https://www.sqlite.org/backup.html>), which sees one
//! committed state, what is in a write-ahead log included. A connection that only reads does
//! more than that to a database with such a log, though: it makes the log and its index where
//! there are none, and leaves them. So the files are opened by paths of ours with which
//! nothing can be made or opened for writing (`sqlite/folder.rs`), and SQLite is told which
//! of its ways around that fits.

use std::fmt::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{AtFlags, CWD, OFlags, statat};
use rustix::io::Errno;
use units::{exact_size, rough_size};

use super::super::folder::SOURCE_PREFIX;
use super::super::traffic;
use crate::recognise::database::{HEADER_BYTES, READ_VERSION, WAL, is_database};
use crate::user_data::source::{open_file, open_untouched, read_most, shown, unreadable};

/// A larger database would take most of a run to copy it for each slice.
pub(super) const BYTES_MAX: u64 = 256 << 20;
/// Others may write between two steps of so many pages.
const PAGES_PER_STEP: i32 = 4096;
/// How long others may keep it busy.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
const BETWEEN_TRIES: Duration = Duration::from_millis(5);
/// How often a database that nobody had open may change while it is copied.
const TRIES: usize = 3;

/// A copy of the database at a path, in memory.
pub(super) fn copy(path: &str) -> Result<Connection, String> {
    let source = Source::find(path)?;
    for _ in 0..TRIES {
        let before = source.stamps()?;
        let how = source.how(&before)?;
        let copied = source.copy(how);
        // Without locks, nothing else tells whether somebody wrote meanwhile.
        if how != IMMUTABLE || source.stamps()? == before {
            return copied.map_err(|e| source.refused(&e));
        }
    }
    Err(format!(
        "{} keeps changing while it is copied; try again, or name a copy of it",
        shown(&source.path)
    ))
}

/// SQLite need not ask for locks or a log, for nobody has it open.
const IMMUTABLE: &str = "immutable=1";
/// The index of the log is there, and need not be made or written to.
const LOG_INDEX: &str = "readonly_shm=1";
/// There is no log.
const PLAIN: &str = "mode=ro";

/// Size and time of a change, of the database and of its log.
type Stamps = [Option<(i64, i64, i64)>; 2];

struct Source {
    /// With links resolved.
    path: PathBuf,
    folder: OwnedFd,
    has_log: bool,
}

impl Source {
    fn find(path: &str) -> Result<Self, String> {
        let (file, stat) = open_file(path)?;
        let wrong = |why: String| format!("{}: {why}", shown(Path::new(path)));
        let header = read_most(file, HEADER_BYTES as u64);
        let header = header.map_err(|e| unreadable(Path::new(path), e))?;
        if !is_database(&header) || header.len() < HEADER_BYTES {
            let why = "it is not a SQLite database, or it is encrypted; name one that the sqlite3 \
                       program can open";
            return Err(wrong(why.to_owned()));
        }
        check_size(stat.st_size as u64).map_err(wrong)?;
        let path = Path::new(path).canonicalize().map_err(|e| unreadable(Path::new(path), e))?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let folder =
            open_untouched(CWD, folder, OFlags::DIRECTORY).map_err(|e| unreadable(folder, e))?;
        Ok(Self { path, folder, has_log: header[READ_VERSION] == WAL })
    }

    fn name(&self) -> &[u8] {
        self.path.file_name().unwrap_or_default().as_bytes()
    }

    fn beside(&self, ending: &str) -> Result<Option<(i64, i64, i64)>, String> {
        let name = [self.name(), ending.as_bytes()].concat();
        match statat(&self.folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some((stat.st_size, stat.st_mtime, stat.st_mtime_nsec as i64))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(unreadable(&self.path, error)),
        }
    }

    fn stamps(&self) -> Result<Stamps, String> {
        Ok([self.beside("")?, self.beside("-wal")?])
    }

    /// How SQLite is to read it.
    fn how(&self, stamps: &Stamps) -> Result<&'static str, String> {
        let log_is_empty = stamps[1].is_none_or(|(bytes, ..)| bytes == 0);
        if !self.has_log {
            return Ok(PLAIN);
        }
        if log_is_empty {
            return Ok(IMMUTABLE);
        }
        match self.beside("-shm")? {
            Some(_) => Ok(LOG_INDEX),
            None => Err(format!(
                "{} has a write-ahead log that was not merged, and no program has it open; open \
                 it once by its program or the sqlite3 program, so that it is merged",
                shown(&self.path)
            )),
        }
    }

    fn copy(&self, how: &str) -> rusqlite::Result<Connection> {
        traffic::register()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let source = Connection::open_with_flags_and_vfs(self.uri(how), flags, traffic::VFS)?;
        source.busy_timeout(Duration::ZERO)?;
        let mut copy = Connection::open_in_memory()?;
        let until = Instant::now() + PATIENCE;
        let backup = Backup::new(&source, &mut copy)?;
        loop {
            match backup.step(PAGES_PER_STEP)? {
                StepResult::Done => break,
                StepResult::More if Instant::now() < until => {}
                _ if Instant::now() < until => thread::sleep(BETWEEN_TRIES),
                _ => {
                    let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                    return Err(rusqlite::Error::SqliteFailure(busy, None));
                }
            }
        }
        drop(backup);
        Ok(copy)
    }

    /// By our own path, in which every byte that could mean something is a number.
    fn uri(&self, how: &str) -> String {
        let folder = self.folder.as_raw_fd();
        let mut uri = format!("file:{SOURCE_PREFIX}{folder}/");
        for byte in self.name() {
            let _ = write!(uri, "%{byte:02x}");
        }
        format!("{uri}?{how}")
    }

    fn refused(&self, error: &rusqlite::Error) -> String {
        let advice = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another program keeps it locked; try again when it is done"
            }
            Some(ErrorCode::ReadOnly) => {
                "a program that crashed left its journal, which only one that may write can undo; \
                 open it once by its program or the sqlite3 program"
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                "it is damaged; name another one"
            }
            _ => "name a copy of it",
        };
        format!("{} cannot be copied: {error}; {advice}", shown(&self.path))
    }
}

/// An error where a database is too large.
pub(super) fn check_size(bytes: u64) -> Result<(), String> {
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    Err(format!(
        "it is {}, and one of more than {} is not measured, for each slice begins with a copy; \
         name one with a part of its rows",
        rough_size(bytes),
        exact_size(BYTES_MAX)
    ))
}
