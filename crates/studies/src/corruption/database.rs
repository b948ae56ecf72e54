//! Of a database: what its pages hold, whole or not.

use std::fs::File;
use std::time::Duration;

use rusqlite::Connection;

use super::*;
use crate::sqlite::client::{Client, WRITES, Work};
use crate::sqlite::database::{self, Expected, NAME, Template};
use crate::sqlite::folder::path_in;
use crate::sqlite::spec::Strategy;

const APP_DB: &str = "app.db";
const WAL: &str = "app.db-wal";
const ROWS: u64 = 200;
const REQUESTS: u64 = 2;
const PAGE: usize = 4096;
const EXPECTED: Expected = Expected { rows: ROWS, updates: REQUESTS * WRITES, perhaps: 0 };

/// A database that requests were answered from, and its write-ahead log, as bytes.
struct Answered {
    database: Vec<u8>,
    log: Vec<u8>,
    rows: Vec<String>,
}

impl Answered {
    fn by(strategy: Strategy) -> Self {
        let folder = testing::in_memory();
        let (opened, path) = (File::open(folder.path()).unwrap(), folder.path().join(APP_DB));
        let file = path_in(&opened, NAME);
        fs::write(&path, Template::new(ROWS).bytes().unwrap()).unwrap();
        let mut client = Client::ready(Work {
            file: file.clone(),
            strategy,
            author: 1,
            rows: ROWS,
            statements: Vec::new(),
            writes: true,
            requests: REQUESTS,
            connects_each_time: false,
            busy_timeout: Duration::from_secs(1),
        })
        .unwrap();
        client.run(&mut testing::timer()).unwrap();
        // While the connection is open: the last to close merges the log.
        let database = fs::read(&path).unwrap();
        let log = fs::read(folder.path().join(WAL)).unwrap_or_default();
        let rows = rows(&path).unwrap();
        Self { database, log, rows }
    }

    /// What is said of the database after some harm.
    fn after(&self, harm: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>)) -> Outcome {
        let folder = testing::in_memory();
        let (opened, path) = (File::open(folder.path()).unwrap(), folder.path().join(APP_DB));
        let file = path_in(&opened, NAME);
        let (mut database, mut log) = (self.database.clone(), self.log.clone());
        harm(&mut database, &mut log);
        fs::write(&path, database).unwrap();
        if !log.is_empty() {
            fs::write(folder.path().join(WAL), log).unwrap();
        }
        match said(database::account(&file, &EXPECTED)) {
            // Much of a file holds no data: space that rows left behind, spare fields.
            Outcome::Unseen if rows(&path).is_ok_and(|rows| rows == self.rows) => Outcome::Harmless,
            outcome => outcome,
        }
    }
}

/// Every table and every row in full: what a database is to those who use it.
fn rows(file: &Path) -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open(file)?;
    let mut rows = Vec::new();
    for query in [
        "SELECT quote(type) || quote(name) || quote(sql) FROM sqlite_schema",
        "SELECT quote(id) || quote(author) || quote(title) || quote(body) || quote(seen)
            FROM message",
    ] {
        let mut statement = connection.prepare(query)?;
        let texts = statement.query_map([], |row| row.get(0))?;
        rows.extend(texts.collect::<Result<Vec<String>, _>>()?);
    }
    Ok(rows)
}

#[test]
fn whole_databases_are_whole() {
    for strategy in [Strategy::DeleteFull, Strategy::WalNormal] {
        let answered = Answered::by(strategy);
        none_found("sqlite", |_| answered.after(|_, _| {}));
    }
}

#[test]
fn what_happens_to_a_databases_bytes_is_found() {
    let answered = Answered::by(Strategy::DeleteFull);
    all_found("sqlite: a bit flipped", |chance| {
        answered.after(|database, _| flip_a_bit(database, chance))
    });
    all_found("sqlite: the end cut off", |chance| {
        answered.after(|database, _| cut_the_end_off(database, chance))
    });
    all_found("sqlite: a byte of the header", |chance| {
        answered.after(|database, _| {
            let at = chance.random_range(0..100);
            database[at] = database[at].wrapping_add(chance.random_range(1..=255));
        })
    });
}

#[test]
fn what_happens_to_a_databases_pages_is_found() {
    let answered = Answered::by(Strategy::DeleteFull);
    let mut other = Template::new(ROWS / 2);
    let other = other.bytes().unwrap();
    all_found("sqlite: pages changed places", |chance| {
        answered.after(|database, _| swap_two(database, PAGE, chance))
    });
    all_found("sqlite: a page of another database", |chance| {
        answered.after(|database, _| {
            let [from, to] = [other.len(), database.len()]
                .map(|bytes| chance.random_range(0..bytes / PAGE) * PAGE);
            database[to..to + PAGE].copy_from_slice(&other[from..from + PAGE]);
        })
    });
    all_found("sqlite: an old page", |chance| {
        let mut old = Template::new(ROWS);
        let old = old.bytes().unwrap();
        answered.after(|database, _| {
            let pages = old.len().min(database.len()) / PAGE;
            let at = chance.random_range(0..pages) * PAGE;
            database[at..at + PAGE].copy_from_slice(&old[at..at + PAGE]);
        })
    });
}

#[test]
fn what_happens_to_a_write_ahead_log_is_found() {
    let answered = Answered::by(Strategy::WalNormal);
    assert!(answered.log.len() > 20 * PAGE);
    all_found("sqlite: the log cut", |chance| {
        answered.after(|_, log| cut_the_end_off(log, chance))
    });
    all_found("sqlite: a bit of the log flipped", |chance| {
        answered.after(|_, log| flip_a_bit(log, chance))
    });
}
