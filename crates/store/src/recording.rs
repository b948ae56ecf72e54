//! A run that is kept as it goes.

use std::time::Instant;

use model::run::{ArmFailure, Invocation, Run};
use model::slice::Slice;
use rusqlite::{Connection, TransactionBehavior, params};
use serde::Serialize;
use serde_json::Value;

use crate::checksum::{self, Text};
use crate::error::Error;
use crate::lock::{self, RunLock};
use crate::saved::{self, Entry, State};
use crate::{Store, database};

/// A comparison that is going on, of which everything so far is in the database.
pub struct Recording {
    store: Store,
    number: i64,
    /// The record without slices.
    run: Run,
    /// How many slices are kept, and in how many parts.
    kept: usize,
    parts: u64,
    began: Instant,
    lock: Option<RunLock>,
}

impl Store {
    /// Begins to keep a comparison: its record before the first slice.
    pub fn begin(mut self, run: &Run) -> Result<Recording, Error> {
        let run = run.without_slices();
        let record = json(&run)?;
        let (folder, id) = (self.folder.clone(), run.run.id.clone());
        let (number, lock) = self.write("beginning a run", |database| {
            let lock = RunLock::take(&folder, &id)?;
            let entry = Entry::of_comparison(&run, State::Running);
            Ok((insert(database, &entry, &record)?, lock))
        })?;
        let (began, lock) = (Instant::now(), Some(lock));
        Ok(Recording { store: self, number, run, kept: 0, parts: 0, began, lock })
    }

    /// Keeps the document of a run of another kind, when it is over.
    pub fn keep(&mut self, entry: &Entry, document: &impl Serialize) -> Result<(), Error> {
        let document = json(document)?;
        self.write("saving a run", |database| {
            insert(database, entry, &document)?;
            Ok(())
        })
    }

    /// The runs that were killed, and of which that was not known before.
    pub fn find_killed(&mut self) -> Result<Vec<Entry>, Error> {
        if self.is_read_only() {
            return Ok(Vec::new());
        }
        let folder = self.folder.clone();
        self.write("looking for killed runs", |database| {
            lock::sweep(&folder)?;
            let mut running = saved::entries(database, "WHERE state = 'running'", ())?;
            running.retain(|entry| !lock::is_held(&folder, &entry.id));
            for entry in &mut running {
                entry.state = State::Killed;
                let state = State::Killed.name();
                database
                    .execute("UPDATE run SET state = ? WHERE id = ?", params![state, entry.id])?;
            }
            Ok(running)
        })
    }

    /// Does all of it or nothing.
    pub(crate) fn write<T>(
        &mut self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Failed>,
    ) -> Result<T, Error> {
        let path = database::path(&self.folder);
        let all = || {
            let immediate = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        all().map_err(|failed| match failed {
            Failed::InDatabase(error) => Error::database(&path, action)(error),
            Failed::Elsewhere(error) => error,
        })
    }
}

impl Recording {
    /// Keeps slices that follow the ones before; when this returns, they are on the disk.
    pub fn append(&mut self, slices: &[Slice]) -> Result<(), Error> {
        if slices.is_empty() {
            return Ok(());
        }
        let part = json(slices)?;
        let blocks = slices.chunk_by(|a, b| a.phase == b.phase);
        let blocks = blocks.filter(|block| block[0].block().is_some()).count() as i64;
        let seconds = self.run.run.seconds + self.began.elapsed().as_secs_f64();
        let number = self.number;
        let checksum = self.checksum(&part);
        self.store.write("saving a block", |database| {
            insert_part(database, number, &part, checksum)?;
            database.execute(
                "UPDATE run SET blocks = blocks + ?, seconds = ? WHERE number = ?",
                params![blocks, seconds, number],
            )?;
            Ok(())
        })?;
        self.kept += slices.len();
        self.parts += 1;
        Ok(())
    }

    /// That of the next part.
    fn checksum(&self, part: &str) -> i64 {
        checksum::of(&self.run.run.id, Text::Part(self.parts), part.as_bytes())
    }

    /// Keeps that an arm could not be timed to the end.
    pub fn fail(&mut self, failure: ArmFailure) -> Result<(), Error> {
        self.run.failures.push(failure);
        let (number, record) = (self.number, json(&self.run)?);
        let id = self.run.run.id.clone();
        self.store.write("saving a failure", |database| {
            update_record(database, number, &id, &record)?;
            Ok(())
        })
    }

    /// Keeps the rest of a run that is over: what follows its last complete block, how its
    /// places were then, and whatever could not be kept before.
    /// Gives back the store.
    pub fn finish(mut self, run: &Run) -> Result<Store, Error> {
        let rest = run.slices.get(self.kept..).unwrap_or_default();
        let part = if rest.is_empty() { None } else { Some(json(rest)?) };
        let part = part.map(|part| (self.checksum(&part), part));
        let (number, record) = (self.number, json(&run.without_slices())?);
        let Invocation { id, seconds, .. } = &run.run;
        let blocks = run.blocks().count() as i64;
        self.store.write("finishing a run", |database| {
            if let Some((checksum, part)) = &part {
                insert_part(database, number, part, *checksum)?;
            }
            update_record(database, number, id, &record)?;
            database.execute(
                "UPDATE run SET state = ?, blocks = ?, seconds = ? WHERE number = ?",
                params![State::Finished.name(), blocks, seconds, number],
            )?;
            Ok(())
        })?;
        drop(self.lock.take());
        // What was removed meanwhile can still be written to.
        let path = database::path(&self.store.folder);
        path.symlink_metadata().map_err(Error::io(&path, "finding what was saved"))?;
        Ok(self.store)
    }
}

/// What ends a transaction without a trace.
pub(crate) enum Failed {
    InDatabase(rusqlite::Error),
    Elsewhere(Error),
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::InDatabase(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Elsewhere(error)
    }
}

fn insert(database: &Connection, entry: &Entry, record: &str) -> rusqlite::Result<i64> {
    let Entry { id, kind, started, subject, state, seconds, blocks, studies, places, summary } =
        entry;
    let [studies, places] =
        [studies, places].map(|names| Value::from(names.as_slice()).to_string());
    let ended = summary.as_ref().map(|summary| &summary.ended);
    let answer = summary.as_ref().map(|summary| &summary.answer);
    let (kind, state) = (kind.name(), state.name());
    database.execute(
        "INSERT INTO run (id, kind, started, subject, state, seconds, blocks, studies, places,
                          ended, answer)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![id, kind, started, subject, state, seconds, blocks, studies, places, ended, answer],
    )?;
    let number = database.last_insert_rowid();
    let checksum = checksum::of(id, Text::Record, record.as_bytes());
    let sql = "INSERT INTO record (run, json, checksum) VALUES (?, ?, ?)";
    database.execute(sql, params![number, record, checksum])?;
    Ok(number)
}

fn insert_part(
    database: &Connection,
    number: i64,
    slices: &str,
    checksum: i64,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO part (run, slices, checksum) VALUES (?, ?, ?)";
    database.execute(sql, params![number, slices, checksum])?;
    Ok(())
}

fn update_record(
    database: &Connection,
    number: i64,
    id: &str,
    record: &str,
) -> rusqlite::Result<()> {
    let checksum = checksum::of(id, Text::Record, record.as_bytes());
    let sql = "UPDATE record SET json = ?, checksum = ? WHERE run = ?";
    database.execute(sql, params![record, checksum, number])?;
    Ok(())
}

pub(crate) fn json(what: &(impl Serialize + ?Sized)) -> Result<String, Error> {
    serde_json::to_string(what).map_err(|error| {
        Error::Refused(format!("a run's record cannot be written as JSON: {error}"))
    })
}
