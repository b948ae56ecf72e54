//! Runs that were kept.

use model::run::Run;
use model::slice::Slice;
use rusqlite::types::Type;
use rusqlite::{Connection, Params, Row};
use serde::de::DeserializeOwned;
use units::counted;

use crate::checksum::{Kept, Text};
use crate::error::Error;
use crate::{Store, database, lock};

/// What a run was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `compare`.
    Comparison,
    /// `load`.
    Load,
    /// `selftest`.
    Selftest,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    Running,
    /// It came to its end, or was interrupted in order.
    Finished,
    /// Its process ended before it did.
    Killed,
}

/// What is known of a run without loading it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// A random name, unique to the run.
    pub id: String,
    /// What it was.
    pub kind: Kind,
    /// When it began, RFC 3339.
    pub started: String,
    /// What was measured, in a few words.
    pub subject: String,
    /// What became of it.
    pub state: State,
    /// How long it took, or has taken so far.
    pub seconds: f64,
    /// How many blocks are complete.
    pub blocks: u32,
    /// The studies; what it was instead of a comparison.
    pub studies: Vec<String>,
    /// The labels of the places.
    pub places: Vec<String>,
    /// How it ended and what it answered; unknown until [`Store::summarise`] is told.
    pub summary: Option<Summary>,
}

/// How a run ended and what it answered, in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How it ended.
    pub ended: String,
    /// What it answered.
    pub answer: String,
}

/// What was kept of a run.
pub enum Content {
    /// The record of a comparison.
    Comparison(Box<Run>),
    /// The document of anything else, as `--json` writes it.
    Document(String),
}

/// Characters of a name that tell runs apart.
const SHORT: usize = 8;
/// Stands for the run that began last.
const LAST: &str = "last";

impl Entry {
    /// That of a comparison.
    pub fn of_comparison(run: &Run, state: State) -> Self {
        let studies: Vec<String> = run.studies.iter().map(|study| study.name.clone()).collect();
        let places: Vec<String> = run.places.iter().map(|place| place.label.clone()).collect();
        Self {
            id: run.run.id.clone(),
            kind: Kind::Comparison,
            started: run.run.started.clone(),
            subject: format!("{} on {}", studies.join(", "), places.join(", ")),
            state,
            seconds: run.run.seconds,
            blocks: run.blocks().count() as u32,
            studies,
            places,
            summary: None,
        }
    }

    /// The beginning of its name, for people to type.
    pub fn short_id(&self) -> &str {
        self.id.get(..SHORT).unwrap_or(&self.id)
    }
}

impl Store {
    /// All runs, the latest first.
    pub fn list(&self) -> Result<Vec<Entry>, Error> {
        self.entries("ORDER BY number DESC", ())
    }

    /// The run that began last.
    pub fn latest(&self) -> Result<Option<Entry>, Error> {
        Ok(self.entries("ORDER BY number DESC LIMIT 1", ())?.pop())
    }

    /// The one run of that name: `last`, `last~1` for the one before it and so on, or the
    /// beginning of a run's own name.
    pub fn find(&self, name: &str) -> Result<Entry, Error> {
        let Some(back) = back(name) else { return self.find_beginning(name) };
        let found = self.entries("ORDER BY number DESC LIMIT 1 OFFSET ?", [back])?.pop();
        match (found, self.count()?) {
            (Some(entry), _) => Ok(entry),
            (None, count) => Err(Error::Refused(format!(
                "there is no {name}: `iotoll history` has only {}",
                counted(u64::from(count), "run")
            ))),
        }
    }

    fn count(&self) -> Result<u32, Error> {
        let counted = self.connection.query_row("SELECT count(*) FROM run", (), |row| row.get(0));
        counted.map_err(Error::database(&database::path(&self.folder), "counting the runs"))
    }

    fn find_beginning(&self, beginning: &str) -> Result<Entry, Error> {
        let mut found =
            self.entries("WHERE substr(id, 1, length(?1)) = ?1 ORDER BY number", [beginning])?;
        match (found.pop(), found.is_empty()) {
            (Some(entry), true) => Ok(entry),
            (None, _) => Err(Error::NoSuchRun(beginning.to_owned())),
            (Some(last), false) => {
                let names: Vec<_> = found.into_iter().chain([last]).map(|entry| entry.id).collect();
                Err(Error::Refused(format!(
                    "{beginning} is ambiguous, because several saved runs begin with it: {}; give \
                     more of the name",
                    names.join(", ")
                )))
            }
        }
    }

    /// What was kept of a run. One that did not come to its end was interrupted. One that is not
    /// as it was saved is an error.
    pub fn load(&self, entry: &Entry) -> Result<Content, Error> {
        let failed = || Error::database(&database::path(&self.folder), "reading a run");
        let sql = "SELECT number, json, checksum FROM run JOIN record ON run = number WHERE id = ?";
        let get = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, Kept::at(row, 1)?));
        let (number, record) = self.connection.query_row(sql, [&entry.id], get).map_err(failed())?;
        if entry.kind != Kind::Comparison {
            let text = self.sound(entry, Text::Record, &record)?;
            let text = String::from_utf8(text.to_vec());
            return Ok(Content::Document(text.map_err(|error| self.damaged(error.to_string()))?));
        }
        let mut run: Run = self.parse(entry, Text::Record, &record)?;
        for (position, part) in (0..).zip(self.parts(number).map_err(failed())?) {
            run.slices.extend(self.parse::<Vec<Slice>>(entry, Text::Part(position), &part)?);
        }
        if entry.state != State::Finished {
            run.run.interrupted = true;
            run.run.seconds = entry.seconds;
        } else if record.checksum.is_some() && run.blocks().count() != entry.blocks as usize {
            // A part that is gone has no checksum that could differ.
            return Err(self.damaged_run(entry));
        }
        run.check().map_err(|why| self.damaged(why))?;
        Ok(Content::Comparison(run.into()))
    }

    /// The record of a comparison without its slices.
    pub fn load_record(&self, entry: &Entry) -> Result<Run, Error> {
        let failed = Error::database(&database::path(&self.folder), "reading a run");
        let sql = "SELECT json, checksum FROM run JOIN record ON run = number
                   WHERE id = ? AND kind = 'comparison'";
        let record = self.connection.query_row(sql, [&entry.id], |row| Kept::at(row, 0));
        let run: Run = self.parse(entry, Text::Record, &record.map_err(failed)?)?;
        run.check().map_err(|why| self.damaged(why))?;
        Ok(run)
    }

    pub(crate) fn parts(&self, number: i64) -> rusqlite::Result<Vec<Kept>> {
        let sql = "SELECT slices, checksum FROM part WHERE run = ? ORDER BY number";
        self.connection.prepare(sql)?.query_map([number], |row| Kept::at(row, 0))?.collect()
    }

    /// Reads a text of a run, if it is what was saved.
    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        entry: &Entry,
        which: Text,
        kept: &Kept,
    ) -> Result<T, Error> {
        let text = self.sound(entry, which, kept)?;
        serde_json::from_slice(text).map_err(|error| self.damaged(error.to_string()))
    }

    pub(crate) fn sound<'a>(
        &self,
        entry: &Entry,
        which: Text,
        kept: &'a Kept,
    ) -> Result<&'a [u8], Error> {
        let is_sound = kept.is_sound(&entry.id, which);
        is_sound.then_some(kept.text.as_slice()).ok_or_else(|| self.damaged_run(entry))
    }

    fn damaged_run(&self, entry: &Entry) -> Error {
        let run = entry.short_id();
        Error::Refused(format!(
            "the saved run {run} is damaged: its checksum in {} does not match, so it is neither \
             shown nor used; remove it with `iotoll prune {run}` and measure again, and check the \
             disk",
            database::path(&self.folder).display()
        ))
    }

    pub(crate) fn damaged(&self, why: String) -> Error {
        Error::damaged(&database::path(&self.folder), why)
    }

    pub(crate) fn entries(&self, which: &str, given: impl Params) -> Result<Vec<Entry>, Error> {
        let failed = Error::database(&database::path(&self.folder), "reading the runs");
        let mut found = entries(&self.connection, which, given).map_err(failed)?;
        if self.is_read_only() {
            // The state of a killed run cannot be written here, so each reader works it out.
            let is_over = |entry: &&mut Entry| {
                entry.state == State::Running && !lock::is_taken(&self.folder, &entry.id)
            };
            found.iter_mut().filter(is_over).for_each(|entry| entry.state = State::Killed);
        }
        Ok(found)
    }
}

/// The runs that the end of a query asks for.
pub(crate) fn entries(
    database: &Connection,
    which: &str,
    given: impl Params,
) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT id, kind, started, subject, state, seconds, blocks, studies, places, ended,
                   answer FROM run";
    database.prepare(&format!("{sql} {which}"))?.query_map(given, entry)?.collect()
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        id: row.get(0)?,
        kind: named(row, 1, &[Kind::Comparison, Kind::Load, Kind::Selftest], Kind::name)?,
        started: row.get(2)?,
        subject: row.get(3)?,
        state: named(row, 4, &[State::Running, State::Finished, State::Killed], State::name)?,
        seconds: row.get(5)?,
        blocks: row.get(6)?,
        studies: names(row, 7)?,
        places: names(row, 8)?,
        summary: match (row.get(9)?, row.get(10)?) {
            (Some(ended), Some(answer)) => Some(Summary { ended, answer }),
            _ => None,
        },
    })
}

/// A list of names.
fn names(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let json: String = row.get(column)?;
    let wrong =
        |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    serde_json::from_str(&json).map_err(wrong)
}

/// How many runs before the last one a name means, if it is of that form.
fn back(name: &str) -> Option<u32> {
    match name.strip_prefix(LAST)? {
        "" => Some(0),
        back => back.strip_prefix('~')?.parse().ok(),
    }
}

/// Whether a text can be the name of a saved run: `last`, `last~2`, or the beginning of a
/// name of 16 hexadecimal digits.
pub fn is_name(text: &str) -> bool {
    let is_digit = |b| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    back(text).is_some() || (1..=16).contains(&text.len()) && text.bytes().all(is_digit)
}

/// The one of all that has the name in that column.
fn named<T: Copy>(
    row: &Row<'_>,
    column: usize,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    let found: String = row.get(column)?;
    let unknown = || rusqlite::Error::InvalidColumnName(format!("{found} is unknown"));
    all.iter().copied().find(|one| name(*one) == found).ok_or_else(unknown)
}

impl Kind {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Comparison => "comparison",
            Self::Load => "load",
            Self::Selftest => "selftest",
        }
    }
}

impl State {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Killed => "killed",
        }
    }
}
