//! Removing runs, and freeing the space that they took.

use std::fs;

use rusqlite::OptionalExtension as _;

use crate::error::Error;
use crate::recording::Failed;
use crate::saved::{Entry, State};
use crate::{Store, database, lock};

impl Store {
    /// Removes a run, unless it goes on. Each is removed by itself, so that a run that goes
    /// on meanwhile has not long to wait before it can save its next block.
    pub fn remove(&mut self, entry: &Entry) -> Result<(), Error> {
        let is_taken = lock::is_taken(&self.folder, &entry.id);
        self.write("removing a run", |database| {
            let sql = "SELECT state FROM run WHERE id = ?";
            let state: Option<String> =
                database.query_row(sql, [&entry.id], |row| row.get(0)).optional()?;
            if is_taken && state.as_deref() == Some(State::Running.name()) {
                let run = entry.short_id();
                let why =
                    format!("{run} is still running; stop it first, or wait for it to finish");
                return Err(Failed::Elsewhere(Error::Refused(why)));
            }
            database.execute("DELETE FROM run WHERE id = ?", [&entry.id])?;
            database.execute(
                "DELETE FROM setting WHERE number NOT IN (SELECT setting FROM toll)",
                (),
            )?;
            Ok(())
        })
    }

    /// Returns the space of removed runs to the file system; how many bytes that were.
    /// While a run goes on this is left, since that would have to wait: what is free is used
    /// by the next runs.
    pub fn shrink(&mut self) -> Result<u64, Error> {
        let path = database::path(&self.folder);
        let size = || {
            fs::metadata(&path).map(|file| file.len()).map_err(Error::io(&path, "looking at it"))
        };
        let going_on = !self.entries("WHERE state = 'running'", ())?.is_empty();
        let before = size()?;
        if !going_on {
            let settings = "VACUUM; PRAGMA wal_checkpoint(TRUNCATE);";
            let done = self.connection.execute_batch(settings);
            done.map_err(Error::database(&path, "freeing the space of removed runs"))?;
        }
        Ok(before.saturating_sub(size()?))
    }
}
