#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use model::integrity::Integrity;
use rusqlite::Connection;

use super::client::{Client, WRITES, Work};
use super::database::Expected;
use super::folder::path_in;
use super::spec::Strategy;
use super::*;
use crate::testing::{self, in_memory, on_disk, slice};

#[test]
fn every_strategy_answers_requests_and_leaves_the_database_whole() {
    for strategy in &spec::SPEC.strategies {
        for folder in [on_disk(), in_memory()] {
            let outcome = slice(&SQLITE, &strategy.name, &[], folder.path(), 2).unwrap();
            let integrity = outcome.integrity();
            // One more request was made before the clock, to see what it writes to the log.
            let requests = 2 + u64::from(strategy.name.starts_with("wal"));
            assert_eq!((outcome.laps, integrity.records), (2, 100 + requests * WRITES));
            assert!(integrity.is_intact(), "{}: {integrity:?}", strategy.name);
            assert!(outcome.requested_bytes() > 0);
        }
    }
}

#[test]
fn strategies_are_told_apart_by_their_syncs() {
    let syncs = |strategy| {
        let folder = in_memory();
        slice(&SQLITE, strategy, &[], folder.path(), 1).unwrap().figure("syncs_per_request")
    };
    // 21 statements that write, each with its journal and the database itself.
    assert!(syncs("delete-full") >= 2.0 * 21.0);
    assert!((2.0..6.0).contains(&syncs("delete-full-tx")));
    // Each of them appends to the log and waits for that.
    assert!((21.0..25.0).contains(&syncs("wal-full")));
    for strategy in ["wal-normal-tx", "off", "delete-off"] {
        assert!(syncs(strategy) <= 1.0, "{strategy}");
    }
}

#[test]
fn several_connections_share_a_database_and_lose_nothing() {
    for strategy in ["delete-full", "delete-full-tx", "wal-normal"] {
        for connect in ["once", "request"] {
            let folder = in_memory();
            let given = [("connections", "3"), ("connect", connect), ("rows", "20")];
            let outcome = slice(&SQLITE, strategy, &given, folder.path(), 6).unwrap();
            let integrity = outcome.integrity();
            assert_eq!((outcome.laps, integrity.records), (6, 20 + 6 * WRITES));
            assert!(integrity.is_intact(), "{strategy}: {integrity:?}");
        }
    }
}

/// What is found of a slice's database after something has happened to it.
fn account_after(given: &[(&str, &str)], harm: impl FnOnce(&Path)) -> Integrity {
    let folder = in_memory();
    let mut connections = testing::workload(&SQLITE, "delete-full", given);
    let ready = testing::ready(connections.as_mut(), folder.path(), 2).unwrap();
    let (mut ran, ..) = testing::run(ready).unwrap();
    ran.flush().unwrap();
    harm(&folder.path().join("app.db"));
    ran.finish().unwrap().integrity.unwrap()
}

/// The same, after some statements.
fn account_after_statements(harm: &str) -> Integrity {
    account_after(&[], |file| Connection::open(file).unwrap().execute_batch(harm).unwrap())
}

#[test]
fn a_lost_row_a_lost_update_and_a_left_over_are_found() {
    assert!(account_after_statements("").is_intact());
    let unseen = "DELETE FROM message WHERE id = (SELECT id FROM message WHERE seen = 0 LIMIT 1)";
    assert_eq!(account_after_statements(unseen).lost, 1);
    let forgotten = "UPDATE message SET seen = 0
        WHERE id = (SELECT id FROM message WHERE seen = 1 LIMIT 1)";
    assert_eq!(account_after_statements(forgotten).lost, 1);
    let left = "INSERT INTO message (author, title, body) VALUES (1, '', '')";
    assert_eq!(account_after_statements(left).duplicated, 1);
    assert_eq!(account_after_statements("DROP TABLE message").torn, 120);
}

#[test]
fn a_broken_file_is_found() {
    let found = account_after(&[("rows", "1000")], |file| {
        let mut bytes = std::fs::read(file).unwrap();
        bytes[8192..16384].fill(7);
        std::fs::write(file, bytes).unwrap();
    });
    assert!(found.torn > 0 && found.example.is_some(), "{found:?}");
}

#[test]
fn a_database_that_another_holds_locked_is_an_error_that_says_so() {
    let folder = in_memory();
    let file = folder.path().join("app.db");
    std::fs::write(&file, Template::new(10).bytes().unwrap()).unwrap();
    let opened = File::open(folder.path()).unwrap();
    let work = Work {
        file: path_in(&opened, database::NAME),
        strategy: Strategy::DeleteFull,
        author: 1,
        rows: 10,
        statements: Vec::new(),
        writes: true,
        requests: 1,
        connects_each_time: false,
        busy_timeout: Duration::from_millis(20),
    };
    let mut client = Client::ready(work).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut timer = testing::timer();
    timer.start();
    let error = client.run(&mut timer).unwrap_err().to_string();
    assert!(error.contains("database is locked; another process holds a lock"), "{error}");
    other.execute_batch("COMMIT").unwrap();
    client.run(&mut timer).unwrap();
}

#[test]
fn strategies_are_what_their_names_say() {
    for name in Strategy::NAMES {
        let strategy = Strategy::of(name).unwrap();
        let spec::Mode { journal, synchronous, one_transaction } = strategy.mode();
        let mut said = if journal == "off" {
            assert_eq!(synchronous, "off");
            "off".to_owned()
        } else {
            format!("{journal}-{synchronous}")
        };
        said += if one_transaction { "-tx" } else { "" };
        assert_eq!(said, *name);
        assert_eq!(strategy.is_wal(), journal == "wal");
    }
}

#[test]
fn what_a_refused_request_had_done_before_is_not_broken_data() {
    let folder = in_memory();
    let file = folder.path().join("app.db");
    let opened = File::open(folder.path()).unwrap();
    let by_descriptor = path_in(&opened, database::NAME);
    std::fs::write(&file, Template::new(10).bytes().unwrap()).unwrap();
    let db = Connection::open(&file).unwrap();
    db.execute_batch(
        "UPDATE message SET seen = 1 WHERE id <= 7;
         INSERT INTO message (author, title, body) VALUES (3, '', '')",
    )
    .unwrap();
    drop(db);
    let found = |perhaps| {
        database::account(&by_descriptor, &Expected { rows: 10, updates: 4, perhaps }).unwrap()
    };
    assert_eq!(found(0).duplicated, 3 + 1);
    assert!(found(WRITES).is_intact());
}

#[test]
fn checkpoints_come_to_slices_in_their_due_share_whatever_their_size() {
    // A request fills the log by some 22 of 1,000 pages, so that a slice of 20 has less
    // than half of a checkpoint.
    let mut connections = testing::workload(&SQLITE, "wal-normal", &[]);
    let syncs: Vec<u64> = (0..8)
        .map(|_| {
            let folder = in_memory();
            let ready = testing::ready(connections.as_mut(), folder.path(), 20).unwrap();
            let slice = testing::finish(ready).unwrap();
            assert!(slice.outcome.integrity.is_some_and(|found| found.is_intact()));
            slice.spent.sync_calls
        })
        .collect();
    let with_checkpoint = syncs.iter().filter(|syncs| **syncs > 0).count();
    assert!((2..=6).contains(&with_checkpoint), "{syncs:?}");
}

#[test]
fn every_strategy_makes_the_users_own_statements_to_a_copy_of_the_users_own_database() {
    let own = in_memory();
    let path = |name: &str| own.path().join(name).to_str().unwrap().to_owned();
    let (database, statements) = (path("shop.db"), path("request.sql"));
    let shop = Connection::open(&database).unwrap();
    shop.execute_batch(
        "PRAGMA page_size = 1024; PRAGMA journal_mode = wal;
         CREATE TABLE item (id INTEGER PRIMARY KEY, sold INTEGER NOT NULL);
         INSERT INTO item (sold) VALUES (0), (0), (0);",
    )
    .unwrap();
    // As many as no cache of prepared statements has by default.
    let mut sql = "UPDATE item SET sold = sold + 1 WHERE id = 2;\n".to_owned();
    sql += &(0..30).map(|n| format!("SELECT sold + {n} FROM item;\n")).collect::<String>();
    std::fs::write(&statements, &sql).unwrap();
    let given = [("database", &*database), ("statements", &*statements)];
    for strategy in &spec::SPEC.strategies {
        let alone = [&[][..], &[("connect", "request")]];
        // Without a journal, what waits for another's lock may break the database.
        let together = [&[("connections", "3")][..]];
        let together = if strategy.name.starts_with("off") { &[][..] } else { &together };
        for more in alone.iter().chain(together) {
            let folder = on_disk();
            let given = [&given[..], *more].concat();
            let outcome = slice(&SQLITE, &strategy.name, &given, folder.path(), 3).unwrap();
            assert_eq!((outcome.laps, outcome.integrity().records), (3, 1));
            assert!(outcome.integrity().is_intact(), "{}: {outcome:?}", strategy.name);
            let copy = Connection::open(folder.path().join("app.db")).unwrap();
            let sold: i64 =
                copy.query_row("SELECT max(sold) FROM item", [], |row| row.get(0)).unwrap();
            assert!(sold >= 3, "{}: {sold}", strategy.name);
        }
    }
    let sold: i64 = shop.query_row("SELECT sum(sold) FROM item", [], |row| row.get(0)).unwrap();
    assert_eq!(sold, 0);
    let syncs = |strategy| {
        slice(&SQLITE, strategy, &given, on_disk().path(), 1).unwrap().figure("syncs_per_request")
    };
    assert!(syncs("delete-full") >= 2.0);
    std::fs::write(&statements, "SELECT * FROM item").unwrap();
    for strategy in ["delete-full", "wal-full-tx"] {
        assert!(syncs(strategy) < 0.1, "{strategy} syncs for a read");
    }
}

#[test]
fn a_copy_of_the_users_own_database_that_broke_is_found() {
    let own = in_memory();
    let path = |name: &str| own.path().join(name).to_str().unwrap().to_owned();
    let (database, statements) = (path("shop.db"), path("request.sql"));
    let shop = Connection::open(&database).unwrap();
    shop.execute_batch("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)").unwrap();
    shop.execute("INSERT INTO item (name) VALUES (?1)", ["x".repeat(20_000)]).unwrap();
    std::fs::write(&statements, "SELECT count(*) FROM item").unwrap();
    let given = [("database", &*database), ("statements", &*statements)];
    let folder = in_memory();
    let mut connections = testing::workload(&SQLITE, "delete-full", &given);
    let ready = testing::ready(connections.as_mut(), folder.path(), 1).unwrap();
    let (ran, ..) = testing::run(ready).unwrap();
    let file = folder.path().join("app.db");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[4096..5000].fill(7);
    std::fs::write(&file, bytes).unwrap();
    let found = ran.finish().unwrap().integrity.unwrap();
    assert_eq!((found.records, found.torn), (1, 1));
    assert!(found.example.is_some());
}
