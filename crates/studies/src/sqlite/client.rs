//! One connection that makes requests, wherever it runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use engine::slice_timer::SliceTimer;
use engine::study::{Doing as _, StudyError};
use model::spent::Spent;
use process::StopFlag;
use process::worker::{Assignment, Report, Session};
use rusqlite::{Connection, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::database::{self, RARE, body, connect, refused};
use super::folder::file_bytes;
use super::spec::{Mode, Strategy};
use super::traffic::Traffic;
use super::user_data::Statement;
use crate::workers::with_latencies;

/// Inserts, updates and selects of a request.
pub(crate) const WRITES: u64 = 10;
/// Selects of the whole table, and by LIKE.
const SCANS: u64 = 5;

/// Columns of the generated table.
const COLUMNS: usize = 5;

/// What a page has before it in a write-ahead log.
const FRAME_HEADER_BYTES: f64 = 24.0;
/// Requests are made for so long, at the most, to bring a log on its way.
const FILLING_MAX: Duration = Duration::from_millis(500);

const ANSWERING: &str = "answering a request from the database";

/// What a connection has to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Work {
    /// As [`path_in`](super::folder::path_in) gives it.
    pub(crate) file: PathBuf,
    pub(crate) strategy: Strategy,
    /// From 1: who inserted a row.
    pub(crate) author: u64,
    pub(crate) rows: u64,
    /// The user's; none for those of the study.
    pub(crate) statements: Vec<Statement>,
    /// Whether a request writes.
    pub(crate) writes: bool,
    pub(crate) requests: u64,
    pub(crate) connects_each_time: bool,
    pub(crate) busy_timeout: Duration,
}

impl Work {
    /// Requests of the study by one connection that is kept, none of them yet.
    pub(crate) fn new(file: PathBuf, strategy: Strategy, rows: u64) -> Self {
        Self {
            file,
            strategy,
            author: 1,
            rows,
            statements: Vec::new(),
            writes: true,
            requests: 0,
            connects_each_time: false,
            busy_timeout: database::BUSY_TIMEOUT,
        }
    }
}

/// A connection with its work.
pub(crate) struct Client {
    work: Work,
    mode: Mode,
    answered: u64,
    /// Unless each request makes its own.
    kept: Option<Connection>,
}

impl Client {
    pub(crate) fn ready(work: Work) -> Result<Self, StudyError> {
        let mode = work.strategy.mode();
        let connection = connected(&work, &mode)?;
        let kept = (!work.connects_each_time).then_some(connection);
        Ok(Self { work, mode, answered: 0, kept })
    }

    /// Makes all requests under the clock, and says what that did to the files.
    pub(crate) fn run(&mut self, timer: &mut SliceTimer) -> Result<Traffic, StudyError> {
        let before = Traffic::now();
        for _ in 0..self.work.requests {
            self.answer()?;
            timer.lap();
            timer.check_stop()?;
        }
        Ok(Traffic::now().since(before))
    }

    /// Makes requests until the write-ahead log is at that share of its way from one
    /// checkpoint to the next, and says how many. Every so many requests one has to merge
    /// the log into the database, which a slice would else have its due share of only
    /// where its size happens to suit. Where connections close there is no such way: the
    /// last one to close merges the log.
    pub(crate) fn fill_log(&mut self, share: f64) -> Result<u64, StudyError> {
        let Some(kept) = &self.kept else { return Ok(0) };
        if !self.work.writes {
            return Ok(0);
        }
        let number = |name| {
            let number = kept.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            number.map_err(|e| refused(ANSWERING, &e))
        };
        let log_pages = number("wal_autocheckpoint")? as f64;
        let log_bytes = log_pages * (number("page_size")? as f64 + FRAME_HEADER_BYTES);
        self.answer()?;
        let log = self.work.file.with_extension("db-wal");
        let request_bytes = file_bytes(&log).doing("looking at the write-ahead log")?;
        let more = (share * log_bytes / request_bytes.max(1) as f64) as u64;
        let (until, mut made) = (Instant::now() + FILLING_MAX, 1);
        while made <= more && Instant::now() < until {
            self.answer_with(Part::Changes)?;
            made += 1;
        }
        Ok(made)
    }

    /// Answers one request.
    pub(crate) fn answer(&mut self) -> Result<(), StudyError> {
        self.answer_with(Part::Whole)
    }

    fn answer_with(&mut self, part: Part) -> Result<(), StudyError> {
        let Self { work, mode, kept, answered } = self;
        let mut own = None;
        let connection = match kept {
            Some(kept) => kept,
            None => own.insert(connected(work, mode)?),
        };
        let first = answered.wrapping_mul(WRITES);
        *answered += 1;
        let outcome = if mode.one_transaction {
            in_transaction(connection, work, first, part)
        } else {
            request(connection, work, first, part)
        };
        outcome.map_err(Failed::told)?;
        own.map_or(Ok(()), Connection::close).map_err(|(_, e)| refused(ANSWERING, &e))
    }
}

/// Connects, with room to keep every statement prepared.
fn connected(work: &Work, mode: &Mode) -> Result<Connection, StudyError> {
    let connection = connect(&work.file, mode, work.busy_timeout)?;
    if !work.statements.is_empty() {
        connection.set_prepared_statement_cache_capacity(work.statements.len());
    }
    Ok(connection)
}

/// A request that was refused, by the statement on a line of the user's file where it was one.
struct Failed {
    line: Option<u64>,
    error: rusqlite::Error,
}

impl Failed {
    fn told(self) -> StudyError {
        let Self { line, error } = self;
        match (line, refused(ANSWERING, &error)) {
            (Some(line), StudyError::Refused { doing, why }) => {
                StudyError::Refused { doing, why: format!("the statement in line {line}: {why}") }
            }
            (_, told) => told,
        }
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self { line: None, error }
    }
}

/// Which statements of a request are run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// Of the study's own statements those alone that change the database: all that a write-ahead
    /// log has of them.
    Changes,
}

fn in_transaction(
    connection: &mut Connection,
    work: &Work,
    first: u64,
    part: Part,
) -> Result<(), Failed> {
    // Immediate: one that reads first and then wants to write can be refused without waiting.
    let behavior =
        if work.writes { TransactionBehavior::Immediate } else { TransactionBehavior::Deferred };
    let transaction = connection.transaction_with_behavior(behavior)?;
    request(&transaction, work, first, part)?;
    Ok(transaction.commit()?)
}

fn request(db: &Connection, work: &Work, first: u64, part: Part) -> Result<(), Failed> {
    if work.statements.is_empty() {
        return Ok(statements(db, work, first, part)?);
    }
    work.statements.iter().try_for_each(|Statement { line, sql }| {
        own_statement(db, sql).map_err(|error| Failed { line: Some(*line), error })
    })
}

fn own_statement(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(sql)?;
    let columns = statement.column_count();
    read_through(&mut statement.query([])?, columns)
}

/// The statements of a request: it writes and changes messages, reads, and removes what it
/// wrote.
fn statements(db: &Connection, work: &Work, first: u64, part: Part) -> rusqlite::Result<()> {
    let existing = |nth| existing(work, first + nth);
    let mut insert =
        db.prepare_cached("INSERT INTO message (author, title, body) VALUES (?1, ?2, ?3)")?;
    for nth in 0..WRITES {
        insert.execute(params![work.author as i64, "A new message", body(nth)])?;
    }
    let mut update = db.prepare_cached("UPDATE message SET seen = seen + 1 WHERE id = ?1")?;
    for nth in 0..WRITES {
        update.execute([existing(nth)])?;
    }
    if part == Part::Whole {
        look_up(db, work, first)?;
    }
    let mut delete = db.prepare_cached("DELETE FROM message WHERE author = ?1")?;
    delete.execute([work.author as i64])?;
    Ok(())
}

/// Which of the messages that were there at first a statement is about.
fn existing(work: &Work, nth: u64) -> i64 {
    ((nth * 7919 + work.author * 31) % work.rows + 1) as i64
}

/// Looks up messages, lists and searches them all.
fn look_up(db: &Connection, work: &Work, first: u64) -> rusqlite::Result<()> {
    let mut select = db.prepare_cached("SELECT title, body, seen FROM message WHERE id = ?1")?;
    for nth in 0..WRITES {
        let id = existing(work, first + nth);
        select.query_row([id], |row| row.get_ref(1).map(|body| body.data_type()))?;
    }
    let mut all = db.prepare_cached("SELECT * FROM message")?;
    for _ in 0..SCANS {
        read_through(&mut all.query([])?, COLUMNS)?;
    }
    let mut like = db.prepare_cached("SELECT * FROM message WHERE body LIKE ?1")?;
    for _ in 0..SCANS {
        read_through(&mut like.query([RARE])?, COLUMNS)?;
    }
    Ok(())
}

/// Reads every column of every row, as an application does that shows them.
fn read_through(rows: &mut rusqlite::Rows<'_>, columns: usize) -> rusqlite::Result<()> {
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            std::hint::black_box(row.get_ref(column)?);
        }
    }
    Ok(())
}

/// Does an assignment, in a thread of its own.
pub(crate) fn do_assignment(
    assignment: &Assignment,
    session: Session<'_>,
) -> Result<Report, String> {
    let work: Work = assignment.read()?;
    let mut timer = SliceTimer::new(session.clock.clone(), StopFlag::clone(session.stop));
    let mut client = Client::ready(work).map_err(|e| e.to_string())?;
    let start = session.start().map_err(|e| format!("waiting for the start: {e}"))?;
    let started_after_ns = start.elapsed_ns();
    timer.start();
    let traffic = client.run(&mut timer);
    timer.finish();
    let ended_after_ns = start.elapsed_ns();
    let traffic = traffic.map_err(|e| e.to_string())?;
    traffic.record(&mut timer);
    let report = Report {
        acknowledged: client.work.requests,
        started_after_ns,
        ended_after_ns,
        spent: timer.spent(Spent::default()),
        figures: [("written_bytes".to_owned(), traffic.written_bytes as f64)].into(),
        ..Report::default()
    };
    Ok(with_latencies(report, &timer))
}

/// Merges what a write-ahead log holds into the database.
pub(crate) fn checkpoint(work: &Work) -> Result<(), StudyError> {
    const MERGING: &str = "merging the write-ahead log";
    let open = || -> rusqlite::Result<()> {
        let db = database::open(&work.file, database::BUSY_TIMEOUT)?;
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    };
    open().map_err(|e| refused(MERGING, &e))
}
