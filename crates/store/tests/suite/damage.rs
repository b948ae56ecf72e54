//! A saved run that is no longer what was saved is an error, and never a result.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use common::{filled, folder, loaded};
use iotoll_store::{Entry, Error, Kind, Store};
use rusqlite::Connection;
use tempfile::TempDir;

/// Three runs, one of them no comparison, of which the second is damaged by a statement.
fn damaged(sql: &str) -> (TempDir, Store) {
    let (home, folder) = folder();
    let mut store = filled(&folder, &["aa11", "bb22"]);
    let (entry, run) = loaded(&store, "bb22");
    let other = Entry { id: "cc33".to_owned(), kind: Kind::Load, ..entry };
    store.keep(&other, &["a text"]).unwrap();
    store.keep_analysis("bb22", "program", &analysis::analyse(&run)).unwrap();
    let database = Connection::open(folder.join("runs.db")).unwrap();
    assert!(database.execute(sql, ()).unwrap() > 0, "{sql}");
    (home, store)
}

fn load(store: &Store, name: &str) -> Result<(), Error> {
    store.load(&store.find(name).unwrap()).map(drop)
}

#[test]
fn a_byte_that_changed_anywhere_in_a_run_is_found() {
    // A digit for another, so that it is read without complaint.
    let digit = |table: &str, column: &str, run: u32| {
        format!(
            "UPDATE {table} SET {column} = replace({column}, '7', '8')
             WHERE run = {run} AND instr({column}, '7') > 0"
        )
    };
    for sql in [
        digit("record", "json", 2),
        digit("part", "slices", 2),
        // A byte that is no letter at all.
        "UPDATE record SET json = CAST(substr(CAST(json AS BLOB), 1, 99) || x'ff' AS TEXT)
         WHERE run = 2"
            .to_owned(),
        "UPDATE record SET checksum = checksum + 1 WHERE run = 2".to_owned(),
        "UPDATE part SET number = 10000 - number WHERE run = 2".to_owned(),
        "DELETE FROM part WHERE number = (SELECT max(number) FROM part WHERE run = 2)".to_owned(),
        "UPDATE record SET (json, checksum) =
            (SELECT json, checksum FROM record WHERE run = 1) WHERE run = 2"
            .to_owned(),
    ] {
        let (_home, store) = damaged(&sql);
        let error = load(&store, "bb22").unwrap_err();
        assert!(error.to_string().contains("the saved run bb22 is damaged"), "{sql}: {error}");
        assert!(error.to_string().contains("`iotoll prune bb22`"), "{error}");
        assert!(load(&store, "aa11").is_ok() && load(&store, "cc33").is_ok(), "{sql}");
    }
}

#[test]
fn what_followed_from_a_run_and_other_documents_are_checked_too() {
    let analysed = |sql: &str| {
        let (_home, store) = damaged(sql);
        store.load_analysed(&store.find("bb22").unwrap(), "program").map(|found| found.is_some())
    };
    assert!(analysed("UPDATE run SET seconds = 1").unwrap());
    for (table, column) in [("analysis", "json"), ("record", "json"), ("part", "slices")] {
        let sql =
            format!("UPDATE {table} SET {column} = replace({column}, '7', '8') WHERE run = 2");
        let error = analysed(&sql).unwrap_err().to_string();
        assert!(error.contains("the saved run bb22 is damaged"), "{sql}: {error}");
    }
    let (_home, store) =
        damaged("UPDATE record SET json = replace(json, 'text', 'tent') WHERE run = 3");
    let error = load(&store, "cc33").unwrap_err().to_string();
    assert!(error.contains("the saved run cc33 is damaged"), "{error}");
    assert!(load(&store, "bb22").is_ok());
}
