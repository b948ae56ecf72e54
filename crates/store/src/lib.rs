//! Runs, kept block by block as they go, in an `SQLite` database of the user's own.
//!
//! What a run has measured is committed, and on the disk, before its next slice begins:
//! whatever ends the process, the blocks that were complete are there, and nothing that
//! saving does is left to disturb a slice. A run that did not come to its end is told
//! from one that is still going on by a lock that its process holds (`lock.rs`), and is
//! loaded as one that was interrupted.
//!
//! What is told of many runs at once stands beside their records (`summary.rs`), and what
//! followed from each (`analysed.rs`).
//!
//! Each text has a checksum (`checksum.rs`), so that a run is either as it was saved or an error.
//!
//! A database of an older version is brought up to date when it is opened. One that is
//! newer, damaged or another program's is refused, and never written to. How the data is laid out is in `database.rs`, where it may be in `folder.rs`.
//!
//! # Inside
//!
//! Each round's slices are committed and synced before the next slice begins. The layout is a list of steps: a
//! new database takes all of them, an older one those that it lacks, in one transaction. A new version of the
//! layout is another step, and a test that opens the one before it. Checksums are XXH3: they find damage, and a
//! user who may write to the database could write any sum.

mod analysed;
mod checksum;
#[cfg(feature = "copies")]
mod copies;
mod database;
mod error;
mod folder;
mod lock;
mod narrowed;
mod recording;
mod removal;
mod saved;
mod summary;

pub use analysed::Analysed;
pub use error::Error;
pub use folder::{usual, usual_cache};
pub use narrowed::Narrowed;
pub use recording::Recording;
pub use saved::{Content, Entry, Kind, State, Summary, is_name};
pub use summary::{Repeats, TypicalTime};

use std::path::{Path, PathBuf};

use rusqlite::{Connection, MAIN_DB};

/// The folder of the user's own that runs are kept in, made where it lacks: for what else
/// must be where nobody but the user can exchange it.
pub fn own_folder(folder: &Path) -> Result<PathBuf, Error> {
    folder::make(folder)
}

/// The database, open.
pub struct Store {
    connection: Connection,
    folder: PathBuf,
    narrowed: Vec<Narrowed>,
}

impl Store {
    /// Opens the database in that folder; makes both where they lack.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let folder = folder::make(folder)?;
        let narrowed = narrowed::narrow(&folder)?;
        Ok(Self { connection: database::open(&folder)?, folder, narrowed })
    }

    /// What others could read before it was opened.
    pub fn narrowed(&self) -> &[Narrowed] {
        &self.narrowed
    }

    /// Opens the database in that folder, to read it alone if it cannot be written; nothing where
    /// there is none.
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, Error> {
        let found = folder::existing(folder)?.filter(|found| database::is_in(found));
        let Some(found) = found else { return Ok(None) };
        if database::is_writable(&found) {
            return Self::open(folder).map(Some);
        }
        let connection = database::open_to_read(&found)?;
        Ok(Some(Self { connection, folder: found, narrowed: Vec::new() }))
    }

    /// Whether it can only be read: then nothing is kept of what reading finds out.
    fn is_read_only(&self) -> bool {
        self.connection.is_readonly(MAIN_DB).unwrap_or(false)
    }
}
