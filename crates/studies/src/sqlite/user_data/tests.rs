#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::testing::on_disk;

/// A database with rows in a folder of its own, and what it was made with.
struct Shop {
    folder: TempDir,
    connection: Connection,
}

impl Shop {
    fn new(journal: &str) -> Self {
        let folder = on_disk();
        let connection = Connection::open(folder.path().join(NAME)).unwrap();
        connection.pragma_update(None, "journal_mode", journal).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price INTEGER);
                 INSERT INTO item (name, price) VALUES ('cup', 3), ('pot', 9);",
            )
            .unwrap();
        Self { folder, connection }
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    fn read(&self, sql: &str) -> Result<Arc<OwnDatabase>, String> {
        let statements = on_disk();
        let file = statements.path().join("request.sql");
        fs::write(&file, sql).unwrap();
        let [database, file] =
            [self.database(), file].map(|path| path.to_str().unwrap().to_owned());
        OwnDatabase::read(&database, &file).map_err(|e| e.to_string())
    }

    /// Each file's inode, times and contents. The index of a log is another matter within one
    /// process, which shares it.
    fn state(&self) -> BTreeMap<PathBuf, (u64, [i64; 2], u64)> {
        let files = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let facts = |path: PathBuf| {
            let facts = fs::metadata(&path).unwrap();
            let times = [facts.mtime_nsec(), facts.ctime_nsec()];
            let value = (facts.ino(), times, xxh3_64(&fs::read(&path).unwrap()));
            (path, value)
        };
        files.filter(|path| !path.to_string_lossy().ends_with("-shm")).map(facts).collect()
    }
}

/// One that means something in a URI, and moves the cursor.
const NAME: &str = "a shop?x=1#\u{1b}[2J%41.db";

fn names(own: &OwnDatabase) -> Vec<String> {
    let folder = on_disk();
    let path = folder.path().join("copy");
    fs::write(&path, &own.contents).unwrap();
    let copy = Connection::open(path).unwrap();
    let mut all = copy.prepare("SELECT name FROM item ORDER BY id").unwrap();
    all.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_database_is_copied_whatever_its_journal_and_stays_as_it_was() {
    for journal in ["delete", "truncate", "persist", "wal"] {
        for is_open in [true, false] {
            let mut shop = Shop::new(journal);
            if !is_open {
                shop.connection = Connection::open_in_memory().unwrap();
            }
            // As long ago as this, reading it would renew the time of its last access.
            let old =
                fs::FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH + Duration::from_secs(9));
            for entry in fs::read_dir(shop.folder.path()).unwrap() {
                fs::File::open(entry.unwrap().path()).unwrap().set_times(old).unwrap();
            }
            let files = || fs::read_dir(shop.folder.path()).unwrap().count();
            let (files_before, accessed) =
                (files(), || fs::metadata(shop.database()).unwrap().atime());
            let own = shop.read("SELECT * FROM item").unwrap();
            assert_eq!((files(), accessed()), (files_before, 9), "{journal}, open: {is_open}");
            assert_eq!(names(&own), ["cup", "pot"]);
            drop(own);
            let before = shop.state();
            shop.read("DELETE FROM item; INSERT INTO item (name) VALUES ('jug')").unwrap();
            assert_eq!(shop.state(), before, "{journal}, open: {is_open}");
        }
    }
}

#[test]
fn a_live_database_is_copied_with_its_log_while_a_transaction_is_under_way() {
    let shop = Shop::new("wal");
    shop.connection
        .execute_batch("BEGIN IMMEDIATE; INSERT INTO item (name) VALUES ('lid')")
        .unwrap();
    let before = shop.state();
    let own = shop.read("SELECT * FROM item").unwrap();
    assert_eq!(shop.state(), before);
    // What is committed is in the log alone so far.
    assert_eq!(names(&own), ["cup", "pot"]);
    shop.connection.execute_batch("COMMIT").unwrap();
    drop(own);
    assert_eq!(names(&shop.read("SELECT 1").unwrap()), ["cup", "pot", "lid"]);
    shop.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    assert_eq!(names(&shop.read("SELECT 1").unwrap()), ["cup", "pot", "lid"]);
}

/// Without the index of its log nobody has it open, and to make one would be to touch it.
#[test]
fn a_log_that_a_crash_left_is_told_of_and_not_recovered() {
    let shop = Shop::new("wal");
    let other = Shop::new("delete");
    drop(fs::remove_file(other.database()));
    for ending in ["", "-wal"] {
        let name = format!("{NAME}{ending}");
        fs::copy(shop.folder.path().join(&name), other.folder.path().join(&name)).unwrap();
    }
    let before = other.state();
    let error = other.read("SELECT 1").err().unwrap();
    assert!(error.contains("write-ahead log that was not merged"), "{error}");
    assert!(!error.contains('\u{1b}'), "{error}");
    assert_eq!(other.state(), before);
}

#[test]
fn what_is_no_database_or_locked_is_refused_with_what_to_do() {
    let shop = Shop::new("delete");
    shop.connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let error = shop.read("SELECT 1").err().unwrap();
    assert!(error.contains("another program keeps it locked"), "{error}");
    shop.connection.execute_batch("COMMIT").unwrap();
    fs::write(shop.database(), [b'x'; 5000]).unwrap();
    assert!(shop.read("SELECT 1").err().unwrap().contains("not a SQLite database"));
    fs::write(shop.database(), "").unwrap();
    assert!(shop.read("SELECT 1").err().unwrap().contains("not a SQLite database"));
    let of = |database: &str| OwnDatabase::read(database, "/dev/null").err().unwrap().to_string();
    assert!(of("/dev/zero").contains("/dev/null is a device"));
    assert!(snapshot::check_size((256 << 20) + 1).is_err_and(|e| e.contains("more than 256 MiB")));
}

#[test]
fn a_damaged_database_is_the_users_and_no_finding_of_ours() {
    let shop = Shop::new("delete");
    let mut contents = fs::read(shop.database()).unwrap();
    let last = contents.len() - 4096;
    contents[last..last + 100].fill(7);
    fs::write(shop.database(), contents).unwrap();
    let error = shop.read("SELECT 1").err().unwrap();
    assert!(error.contains("damaged") || error.contains("malformed"), "{error}");
}

#[test]
fn reads_and_writes_are_told_apart() {
    let shop = Shop::new("wal");
    let own = shop
        .read(
            "SELECT * FROM item; UPDATE item SET price = price + 1;
             INSERT INTO item (name) VALUES ('x') RETURNING id; DELETE FROM item WHERE name = 'x';
             WITH a AS (SELECT 1) SELECT * FROM a",
        )
        .unwrap();
    assert_eq!((own.seen.changed_rows, own.is_written_to()), (4, true));
    let told = own.material().to_string();
    assert_eq!(
        told,
        "your files: a database of 12.3 kB, 5 statements a request: 2 reads and 3 writes"
    );
    assert!(!shop.read("SELECT 1").unwrap().is_written_to());
}

#[test]
fn a_statement_that_cannot_be_is_named_by_its_line_before_anything_is_timed() {
    let shop = Shop::new("delete");
    let outside = on_disk();
    let attached = outside.path().join("other.db");
    let attach = format!("ATTACH '{}' AS other", attached.display());
    let into = format!("VACUUM INTO '{}'", attached.display());
    for (sql, says) in [
        ("SELECT 1;\n\nSELECT * FROM missing", "line 3: no such table: missing"),
        ("SELECT 1;\nSELEC 2", "line 2: near \"SELEC\": syntax error"),
        ("SELECT * FROM item WHERE id = ?1", "line 1: it has parameters"),
        ("INSERT INTO item (name) VALUES ('x')", "line 1: when the request is made again, UNIQUE"),
        ("BEGIN", "line 1: BEGIN, COMMIT"),
        ("SAVEPOINT a", "line 1: BEGIN, COMMIT"),
        ("PRAGMA journal_mode = off", "line 1: BEGIN, COMMIT"),
        ("VACUUM", "line 1: BEGIN, COMMIT"),
        (&attach, "line 1: BEGIN, COMMIT"),
        (&into, "line 1: BEGIN, COMMIT"),
    ] {
        let error = shop.read(sql).err().unwrap();
        assert!(error.contains(says), "{sql}: {error}");
    }
    assert!(!attached.exists());
    shop.read("PRAGMA foreign_keys = ON; SELECT 1").unwrap();
}

#[test]
fn a_database_without_statements_gets_a_request_to_its_tables() {
    let shop = Shop::new("wal");
    let before = shop.state();
    let database = shop.database();
    let own = OwnDatabase::read(database.to_str().unwrap(), "").unwrap();
    assert_eq!(shop.state(), before);
    assert_eq!((own.statements.len(), own.seen.changed_rows, own.is_written_to()), (12, 2, true));
    assert_eq!(
        own.material().to_string(),
        "your files: a database of 12.3 kB, 12 statements a request, generated from its tables: 10 \
         reads and 2 writes"
    );
}

#[test]
fn statements_without_a_database_are_refused() {
    let own = |given: &[(&str, &str)]| {
        OwnDatabase::of(&crate::testing::params(&crate::sqlite::SQLITE, given))
    };
    let error = own(&[("statements", "a.sql")]).err().unwrap().to_string();
    assert!(error.contains("need your own database"), "{error}");
    assert!(own(&[]).unwrap().is_none());
}
