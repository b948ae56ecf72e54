//! Databases of older and newer versions, and those that are none of ours.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{filled, folder, ids, kept, loaded, names_in};
use iotoll_store::{Entry, Kind, State, Store, Summary};
use rusqlite::Connection;

const FIRST_LAYOUT: &str = include_str!("../layout-1.sql");

/// A database of the first version, with the runs of one of this version.
fn of_first_version(folder: &Path) {
    let present = folder.join("present.db");
    fs::rename(folder.join("runs.db"), &present).unwrap();
    let database = Connection::open(folder.join("runs.db")).unwrap();
    database.execute_batch(FIRST_LAYOUT).unwrap();
    let copied = format!(
        "ATTACH '{}' AS present;
         INSERT INTO run SELECT number, id, kind, started, subject, state, seconds, blocks
             FROM present.run;
         INSERT INTO record SELECT run, json FROM present.record;
         INSERT INTO part SELECT number, run, slices FROM present.part;
         DETACH present;",
        present.display()
    );
    database.execute_batch(&copied).unwrap();
    fs::remove_file(present).unwrap();
}

#[test]
fn a_database_of_the_first_version_is_brought_up_to_date_with_all_its_runs() {
    let (_home, folder) = folder();
    let mut store = filled(&folder, &["aa11", "aa22"]);
    let (_, run) = loaded(&store, "aa11");
    let load = Entry { id: "cc44".to_owned(), kind: Kind::Load, ..store.find("aa22").unwrap() };
    store.keep(&load, &[1.5]).unwrap();
    drop(store);
    of_first_version(&folder);
    // One whose record is damaged stays as it is, and keeps none of the others.
    let database = Connection::open(folder.join("runs.db")).unwrap();
    database.execute("UPDATE record SET json = 'what' WHERE run = 2", ()).unwrap();
    drop(database);

    let store = Store::open(&folder).unwrap();
    assert_eq!(ids(&store), ["cc44", "aa22", "aa11"]);
    let (entry, read) = loaded(&store, "aa11");
    assert_eq!(read, run);
    assert_eq!(entry, Entry::of_comparison(&run, State::Finished));
    let studies = |id: &str| store.find(id).unwrap().studies.join(", ");
    assert_eq!((studies("aa22"), studies("cc44")), (String::new(), "load".to_owned()));
    drop(store);
    let mut store = filled(&folder, &["dd55"]);
    assert_eq!(store.find("last").unwrap().id, "dd55");
    store.summarise("aa11", &Summary::default(), &[]).unwrap();
}

/// Changes it to the layout before checksums.
fn without_checksums(folder: &Path) {
    let database = Connection::open(folder.join("runs.db")).unwrap();
    for table in ["record", "part", "analysis"] {
        database.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN checksum")).unwrap();
    }
    database.execute_batch("PRAGMA user_version = 3").unwrap();
}

#[test]
fn runs_from_before_checksums_are_shown_and_new_ones_have_them() {
    let (_home, folder) = folder();
    let store = filled(&folder, &["aa11"]);
    let (_, run) = loaded(&store, "aa11");
    drop(store);
    without_checksums(&folder);
    let store = filled(&folder, &["bb22"]);
    assert_eq!(loaded(&store, "aa11").1, run);
    let database = Connection::open(folder.join("runs.db")).unwrap();
    let lacking = |table: &str| {
        let sql = format!("SELECT DISTINCT run FROM {table} WHERE checksum IS NULL");
        let mut lacking = database.prepare(&sql).unwrap();
        lacking.query_map((), |row| row.get::<_, i64>(0)).unwrap().flatten().collect::<Vec<_>>()
    };
    assert_eq!((lacking("record"), lacking("part")), (vec![1], vec![1]));
}

#[test]
fn a_database_that_cannot_be_brought_up_to_date_is_left_as_it_was() {
    let (_home, folder) = folder();
    drop(filled(&folder, &["aa11"]));
    of_first_version(&folder);
    // The name of something that the present version has.
    let database = Connection::open(folder.join("runs.db")).unwrap();
    database.execute_batch("CREATE TABLE toll (other TEXT)").unwrap();
    drop(database);
    let error = Store::open(&folder).err().unwrap().to_string();
    assert!(error.contains("upgrading it to this version's format failed"), "{error}");
    let database = Connection::open(folder.join("runs.db")).unwrap();
    let figure = |sql: &str| database.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(figure("PRAGMA user_version"), 1);
    assert_eq!(figure("SELECT count(*) FROM pragma_table_info('run')"), 8);
    assert_eq!(figure("SELECT count(*) FROM run"), 1);
}

#[test]
fn two_that_bring_it_up_to_date_at_once_do_it_once() {
    let (_home, folder) = folder();
    drop(filled(&folder, &["aa11"]));
    of_first_version(&folder);
    std::thread::scope(|scope| {
        let opened: Vec<_> =
            (0..4).map(|_| scope.spawn(|| ids(&Store::open(&folder).unwrap()))).collect();
        for ids in opened {
            assert_eq!(ids.join().unwrap(), ["aa11"]);
        }
    });
}

#[test]
fn what_is_newer_damaged_or_not_ours_is_refused_and_left_as_it_is() {
    let (_home, folder) = folder();
    let (run, recording) = kept(Store::open(&folder).unwrap(), "aa11", &mut |_| true);
    recording.finish(&run).unwrap();
    let file = folder.join("runs.db");
    let whole = fs::read(&file).unwrap();
    let refused = |content: &[u8]| {
        fs::write(&file, content).unwrap();
        let refused = Store::open(&folder).err();
        assert_eq!(fs::read(&file).unwrap(), content, "it was written to");
        assert_eq!(names_in(&folder), ["runs.db"]);
        refused.unwrap()
    };
    // The format is at 60 of the file's header, the application at 68.
    let with = |position: usize, value: u32| {
        let mut changed = whole.clone();
        changed[position..position + 4].copy_from_slice(&value.to_be_bytes());
        changed
    };
    let newer = refused(&with(60, 5));
    assert!(newer.to_string().contains("(format 5; this version knows 4)"), "{newer}");
    assert!(newer.to_string().contains("was written by a newer version of iotoll"), "{newer}");
    let text = b"What is this? It is a text, and a long one at that.";
    for others in [refused(&with(68, 7)), refused(text)] {
        assert!(others.to_string().contains("is not an iotoll database"), "{others}");
    }
    let mut damaged = whole.clone();
    damaged[100..200].fill(0xff);
    let damaged = refused(&damaged);
    assert!(damaged.to_string().contains("is damaged: "), "{damaged}");
    assert!(damaged.to_string().contains("move it away to begin another"), "{damaged}");
}
