//! The database: a template that each slice starts from, connections to it, and
//! what must be in it afterwards.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::study::{Doing, StudyError};
use model::integrity::Integrity;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, params};
use rustix::fs::OFlags;

use super::spec::Mode;
use super::traffic;
use super::user_data::OwnDatabase;
use crate::file::{open_for_writing, write_whole};

/// The database's file.
pub(crate) const NAME: &CStr = c"app.db";

/// A connection waits for another's lock for this long, as in Python and Rails.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const SCHEMA: &str = "CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    author INTEGER NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    seen INTEGER NOT NULL DEFAULT 0
)";

/// What a message says; one in ten says something else.
const BODY: &str = "The quick brown fox jumps over the lazy dog, and nobody minds at all; ";
const RARE_BODY: &str =
    "Pack my box with five dozen liquor jugs, said the needle in the haystack; ";
/// Matches the rare bodies.
pub(crate) const RARE: &str = "%needle%";

/// A message's body.
pub(crate) fn body(number: u64) -> &'static str {
    if number.is_multiple_of(10) { RARE_BODY } else { BODY }
}

/// The file of a database with so many rows, made when it is first wanted and then
/// kept, for each slice starts from it.
pub(crate) struct Template {
    origin: Origin,
    bytes: Option<Vec<u8>>,
}

/// What it is made from.
enum Origin {
    Rows(u64),
    Own(Arc<OwnDatabase>),
}

impl Template {
    pub(crate) fn new(rows: u64) -> Self {
        Self { origin: Origin::Rows(rows), bytes: None }
    }

    /// That of a user's database.
    pub(super) fn of(own: Arc<OwnDatabase>) -> Self {
        Self { origin: Origin::Own(own), bytes: None }
    }

    /// The file's contents.
    pub(crate) fn bytes(&mut self) -> Result<&[u8], StudyError> {
        let rows = match &self.origin {
            Origin::Own(own) => return Ok(&own.contents),
            Origin::Rows(rows) => *rows,
        };
        let bytes = match self.bytes.take() {
            Some(bytes) => bytes,
            None => make(rows).map_err(|e| refused("making the database's template", &e))?,
        };
        Ok(self.bytes.insert(bytes))
    }
}

/// Makes the database in a slice's folder.
pub(crate) fn create(folder: &OwnedFd, template: &mut Template) -> Result<(), StudyError> {
    const CREATING: &str = "creating the database";
    let file = open_for_writing(folder, NAME, OFlags::EXCL).doing(CREATING)?;
    write_whole(file, template.bytes()?, CREATING)
}

fn make(rows: u64) -> rusqlite::Result<Vec<u8>> {
    let mut connection = Connection::open_in_memory()?;
    connection.execute(SCHEMA, [])?;
    let transaction = connection.transaction()?;
    {
        let mut insert =
            transaction.prepare("INSERT INTO message (author, title, body) VALUES (0, ?1, ?2)")?;
        for number in 0..rows {
            insert.execute(params![format!("Message {number}"), body(number)])?;
        }
    }
    transaction.commit()?;
    Ok(connection.serialize(MAIN_DB)?.to_vec())
}

/// Opens the database, for whom others' locks are waited for so long.
pub(super) fn open(file: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    traffic::register()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags_and_vfs(file, flags, traffic::VFS)?;
    connection.busy_timeout(busy_timeout)?;
    Ok(connection)
}

/// Connects as a request does; waits for others' locks.
pub(crate) fn connect(
    file: &Path,
    mode: &Mode,
    busy_timeout: Duration,
) -> Result<Connection, StudyError> {
    const CONNECTING: &str = "connecting to the database";
    let connected = || -> rusqlite::Result<(Connection, String)> {
        let connection = open(file, busy_timeout)?;
        let journal = set_journal(&connection, mode.journal)?;
        connection.pragma_update(None, "synchronous", mode.synchronous)?;
        Ok((connection, journal))
    };
    let (connection, journal) = connected().map_err(|e| refused(CONNECTING, &e))?;
    if journal.eq_ignore_ascii_case(mode.journal) {
        return Ok(connection);
    }
    Err(StudyError::Unsuited(format!(
        "SQLite refused journal_mode={} here and used {journal} instead; time strategies with \
         another journal, or choose another place",
        mode.journal
    )))
}

/// Sets the journal mode; the one that there is then. To change it is a transaction that is
/// committed after its only row, which is why the end of the rows is asked for, too.
fn set_journal(connection: &Connection, journal: &str) -> rusqlite::Result<String> {
    let mut statement = connection.prepare(&format!("PRAGMA journal_mode={journal}"))?;
    let mut rows = statement.query([])?;
    let journal = rows.next()?.map_or_else(|| Ok(String::new()), |row| row.get(0))?;
    while rows.next()?.is_some() {}
    Ok(journal)
}

/// What SQLite could not do, in words, and what to do about it.
pub(crate) fn refused(doing: &'static str, error: &rusqlite::Error) -> StudyError {
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; another process holds a lock on it and did not give it back in time: see which \
             process has it open, or ask for fewer connections"
        }
        Some(ErrorCode::DiskFull) => "; free some space there or choose another place",
        Some(ErrorCode::ReadOnly) => "; the file system has become read-only",
        // It tells no more, whatever the system said.
        Some(ErrorCode::SystemIoFailure) => {
            "; the device may fail, the file system may have become read-only, or a quota may be \
             used up: see the kernel log (dmesg), or choose another place"
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "; another program or a failing device changed it: choose another place"
        }
        _ => "",
    };
    StudyError::Refused { doing, why: format!("{error}{advice}") }
}

/// What must be in the database.
pub(crate) struct Expected {
    /// Rows of the template, none of which a request removes.
    pub(crate) rows: u64,
    /// Updates that were acknowledged.
    pub(crate) updates: u64,
    /// Of updates and of inserts each: those that may be there or not, for a request
    /// that was refused may have done a part of its statements before.
    pub(crate) perhaps: u64,
}

/// Looks into the database with a connection of its own: SQLite's own check, every
/// row of the template, every update, and nothing that requests should have removed.
pub(crate) fn account(file: &Path, expected: &Expected) -> Result<Integrity, StudyError> {
    let mut integrity =
        Integrity { records: expected.rows + expected.updates, ..Integrity::default() };
    match look(file, expected.rows) {
        Ok(DatabaseCheck { complaint, rows, changed, updates, left_over, foreign }) => {
            integrity.lost = expected.rows.saturating_sub(rows + changed)
                + expected.updates.saturating_sub(updates);
            integrity.overwritten = changed;
            integrity.foreign = foreign;
            integrity.duplicated = left_over.saturating_sub(expected.perhaps)
                + updates.saturating_sub(expected.updates + expected.perhaps);
            integrity.torn = u64::from(complaint.is_some());
            integrity.example = complaint.or_else(|| {
                (changed > 0).then(|| format!("{changed} rows are not what was put in"))
            });
            Ok(integrity)
        }
        // A database that does not even answer is the worst that can be found.
        Err(error) if is_broken(&error) => {
            integrity.torn = integrity.records;
            integrity.example = Some(error.to_string());
            Ok(integrity)
        }
        Err(error) => Err(refused("checking the database", &error)),
    }
}

/// Looks into a copy of the user's database: of what should be in it SQLite's own check alone
/// knows.
pub(crate) fn account_own(file: &Path) -> Result<Integrity, StudyError> {
    let said = open(file, BUSY_TIMEOUT).and_then(|connection| complaint(&connection));
    let complaint = match said {
        Err(error) if is_broken(&error) => Some(error.to_string()),
        said => said.map_err(|e| refused("checking the database", &e))?,
    };
    let torn = u64::from(complaint.is_some());
    Ok(Integrity { records: 1, torn, example: complaint, ..Integrity::default() })
}

/// The first of what SQLite's own check has to say, unless that is "ok".
fn complaint(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let said: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}

/// What is in a database.
pub(super) struct DatabaseCheck {
    /// The first of what SQLite's own check has to say, unless that is "ok".
    pub(super) complaint: Option<String>,
    /// Rows of the template that are as they were made, updates aside …
    pub(super) rows: u64,
    /// … and those that are not.
    pub(super) changed: u64,
    /// Updates of these.
    pub(super) updates: u64,
    /// Rows that requests have inserted and not removed.
    pub(super) left_over: u64,
    /// Tables and the like that nobody made, and rows of the template beyond it.
    pub(super) foreign: u64,
}

/// What there is beside the table as it was made.
const FOREIGN: &str = "SELECT (SELECT count(*) FROM sqlite_schema WHERE sql IS NOT ?1)
    + (SELECT count(*) FROM message WHERE author = 0 AND id > ?2)";

/// Looks into a database by a connection of its own.
pub(super) fn look(file: &Path, template_rows: u64) -> rusqlite::Result<DatabaseCheck> {
    let connection = open(file, BUSY_TIMEOUT)?;
    let complaint = complaint(&connection)?;
    let number = |query| connection.query_row(query, [], |row| row.get::<_, i64>(0));
    let (rows, changed) = look_at_rows(&connection, template_rows)?;
    let foreign = connection
        .query_row(FOREIGN, params![SCHEMA, template_rows as i64], |row| row.get::<_, i64>(0))?;
    Ok(DatabaseCheck {
        complaint,
        rows,
        changed,
        foreign: foreign as u64,
        updates: number("SELECT coalesce(sum(seen), 0) FROM message WHERE author = 0")? as u64,
        left_over: number("SELECT count(*) FROM message WHERE author <> 0")? as u64,
    })
}

/// How many rows of the template say what they were made to say, and how many do not:
/// SQLite's own check knows how a row is built, and not what is in it.
fn look_at_rows(connection: &Connection, rows: u64) -> rusqlite::Result<(u64, u64)> {
    let mut all = connection
        .prepare("SELECT id, title, body, author = 0 FROM message WHERE id BETWEEN 1 AND ?1")?;
    let mut found = all.query([rows as i64])?;
    let (mut same, mut changed) = (0, 0);
    while let Some(row) = found.next()? {
        // A broken table may give out rows that were not asked for.
        let number = (row.get::<_, i64>(0)? as u64).wrapping_sub(1);
        let title = format!("Message {number}");
        let is_same = row.get_ref(1)?.as_str() == Ok(&title)
            && row.get_ref(2)?.as_str() == Ok(body(number))
            && row.get_ref(3)?.as_i64() == Ok(1);
        *(if is_same { &mut same } else { &mut changed }) += 1;
    }
    Ok((same, changed))
}

fn is_broken(error: &rusqlite::Error) -> bool {
    // A table that is gone is told as an error of the query, which is unknown.
    use ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};
    matches!(error.sqlite_error_code(), Some(NotADatabase | DatabaseCorrupt | Unknown))
}
