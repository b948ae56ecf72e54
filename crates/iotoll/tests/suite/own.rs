//! Files, databases and logs of the user's own, through the built binary.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Places, assert_fails, entries, run, stderr, stdout};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// What an application has, and places beside it.
struct App {
    folder: TempDir,
    places: Places,
}

impl App {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let templates = folder.path().join("templates");
        fs::create_dir_all(templates.join("mail/\u{1b}[2J")).unwrap();
        fs::write(templates.join("page.html"), "<p>{{ text }}</p>".repeat(40)).unwrap();
        fs::write(templates.join("mail/\u{1b}[2J/sent.txt"), "{{ text }}".repeat(90)).unwrap();
        symlink("/etc", templates.join("link")).unwrap();
        fs::write(folder.path().join("app.log"), "one line\nand another that is longer\n").unwrap();
        fs::write(folder.path().join("request.sql"), REQUEST).unwrap();
        Self { folder, places: Places::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn set(&self, param: &str, name: &str) -> String {
        format!("{param}={}", self.path(name).display())
    }

    /// A short run on both places, in which every arm must have been measured.
    fn compare(&self, more: &[&str]) -> (Value, String) {
        let [disk, ram] = self.places.args();
        let json = self.path("result.json");
        for budget in ["4s", "120s"] {
            let json = json.to_str().unwrap();
            let usual = ["compare", &disk, &ram, "--full", "--blocks", "1", "--json", json];
            let args = [&usual[..], &["--budget", budget], more].concat();
            let output = run(args);
            assert!(output.status.success(), "{}", stderr(&output));
            self.places.assert_empty();
            let result: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
            fs::remove_file(json).unwrap();
            let arms = result["arms"].as_array().unwrap();
            if arms.iter().all(|arm| arm["slices"].as_u64() > Some(0)) {
                return (result, stdout(&output));
            }
        }
        panic!("120 s did not suffice for a single block");
    }
}

const REQUEST: &str =
    "-- what a request does\nUPDATE item SET sold = sold + 1;\nSELECT * FROM item\n";

/// Inodes, sizes and times of all below a folder.
fn state(folder: &Path) -> Vec<(PathBuf, u64, u64, i64, i64)> {
    let mut found = Vec::new();
    for path in entries(folder) {
        let facts = fs::symlink_metadata(&path).unwrap();
        if facts.is_dir() {
            found.extend(state(&path));
        }
        found.push((path, facts.ino(), facts.size(), facts.mtime_nsec(), facts.ctime_nsec()));
    }
    found.sort();
    found
}

/// A text whose lines were broken anywhere.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn materials(result: &Value) -> Vec<&Value> {
    result["plan"]["arms"].as_array().unwrap().iter().map(|arm| &arm["material"]).collect()
}

#[test]
fn every_study_works_on_copies_of_ones_own_and_says_so() {
    let app = App::new();
    let shop = Connection::open(app.path("shop.db")).unwrap();
    shop.execute_batch(
        "PRAGMA journal_mode = wal; CREATE TABLE item (id INTEGER PRIMARY KEY, sold INTEGER);
         INSERT INTO item (sold) VALUES (1), (2);",
    )
    .unwrap();
    let before = state(app.folder.path());
    let given = [
        app.set("page.set", "templates"),
        app.set("cache.set", "templates"),
        app.set("files.set", "templates"),
        app.set("log.sample", "app.log"),
        app.set("sqlite.database", "shop.db"),
        app.set("sqlite.statements", "request.sql"),
        "page.cache=warm".to_owned(),
        "cache.operation=load".to_owned(),
        "files.operation=write".to_owned(),
    ];
    let mut args = vec!["--study", "page,cache,files,log,sqlite", "--strategy"];
    args.push("read,rename,held,wal-normal");
    args.extend(given.iter().flat_map(|text| ["--set", text]));
    let dry = run([&["compare", "--dry-run", app.places.args()[0].as_str()], &args[..]].concat());
    let dry = unwrapped(&stdout(&dry));
    let says = "data your files: 2 files, 1.58 kB; left out: 1 link; a copy is 1,580 bytes";
    assert!(dry.contains(says), "{dry}");
    let (result, text) = app.compare(&args);
    assert_eq!(state(app.folder.path()), before);
    assert!(materials(&result).iter().all(|material| material["own"] == true), "{result:#}");
    for says in [
        " your files: 2 files, 1.58 kB; left out: 1 link strategy place",
        " your files: a database of 8.19 kB, 2 statements a request: 1 read and 1 write strategy",
        " your files: record sizes of 2 lines, 9 B to 27 B, 18 B on average; contents are generated",
        " page, cache, files: your files: 2 files, 1.58 kB; left out: 1 link. ",
    ] {
        assert!(unwrapped(&text).contains(says), "{says}: {text}");
    }
    // Names of files are in no record.
    assert!(!result.to_string().contains("sent.txt") && !text.contains("\u{1b}[2J"));
}

#[test]
fn what_is_generated_is_said_to_be() {
    let app = App::new();
    let (result, text) = app.compare(&["--study", "page,stream", "--strategy", "read,sequential"]);
    let [page, .., stream] = materials(&result)[..] else { panic!("{result:#}") };
    assert_eq!((&page["own"], &page["own_by"]), (&Value::Bool(false), &Value::from("set")));
    assert!(stream.is_null());
    assert!(text.contains("\n  generated: 5 files of 212 kB together\n"), "{text}");
    let said = "Generated data, not your files: add --mine PATH.";
    assert!(unwrapped(&text).contains(said), "{text}");
}

#[test]
fn ones_own_may_be_in_the_place_itself_and_is_not_swept() {
    let app = App::new();
    let place = format!("here={}", app.folder.path().display());
    let before = state(app.folder.path());
    let set = format!("files.set={}", app.folder.path().display());
    let args =
        ["compare", &place, "--study", "files", "--set", &set, "--budget", "4s", "--no-save"];
    let output = run(args);
    assert!(output.status.success(), "{}", stderr(&output));
    let kept = |(path, inode, size, mtime, _): &(PathBuf, u64, u64, i64, i64)| {
        (path.clone(), *inode, *size, *mtime)
    };
    let [before, after] =
        [before, state(app.folder.path())].map(|state| state.iter().map(kept).collect::<Vec<_>>());
    assert_eq!(after, before);
}

#[test]
fn a_plan_names_ones_own_beside_itself() {
    let app = App::new();
    let plan = app.path("plan.toml");
    let text = "[[study]]\nname = \"cache\"\nset = \"{plan}/templates\"\n\
                [[study]]\nname = \"log\"\nsample = \"{plan}/app.log\"\n";
    fs::write(&plan, text).unwrap();
    let output =
        run(["compare", "--dry-run", "--allow-commands", "--plan", plan.to_str().unwrap()]);
    let text = stdout(&output);
    assert!(text.contains("your files: 2 files, 1.58 kB"), "{text}");
    assert!(text.contains("your files: record sizes of 2 lines"), "{text}");
}

#[test]
fn what_cannot_be_read_is_answered_with_a_sentence() {
    let app = App::new();
    let fails = |set: &str, says: &[&str]| {
        let output = run(["compare", "ram=/dev/shm", "--dry-run", "--set", set]);
        assert_fails(&output, 2, says);
    };
    fails("page.set=/no/such", &["page/", "/no/such cannot be read", "check the path"]);
    fails("files.set=/dev/zero", &["files/", "Not a directory", "name a directory"]);
    fails("log.sample=/dev/zero", &["log/", "/dev/zero is a device", "a regular file is needed"]);
    fails("sqlite.database=/dev/zero", &["sqlite/", "/dev/zero is a device"]);
    fails("cache.set=/proc", &["cache/", "/proc"]);
    let fifo = app.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    fails(&app.set("log.sample", "fifo"), &["is a FIFO"]);
    fs::create_dir(app.path("none")).unwrap();
    fails(&app.set("cache.set", "none"), &["has no files that a source tree could be made of"]);
    let both = |database: &str, statements: &str| {
        let given =
            [app.set("sqlite.database", database), app.set("sqlite.statements", statements)];
        run(["compare", "ram=/dev/shm", "--dry-run", "--set", &given[0], "--set", &given[1]])
    };
    assert_fails(&both("app.log", "request.sql"), 2, &["app.log: it is not a SQLite database"]);
    Connection::open(app.path("shop.db")).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    let wrong = both("shop.db", "request.sql");
    assert_fails(&wrong, 2, &["request.sql: line 2: no such table: item", "must fit the database"]);
}

#[test]
fn what_may_not_be_read_is_answered_with_a_sentence() {
    // The superuser may read everything.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let app = App::new();
    let closed = app.path("templates/page.html");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let set = app.set("page.set", "templates");
    let output = run(["compare", "ram=/dev/shm", "--dry-run", "--set", &set]);
    assert_fails(&output, 2, &["page.html cannot be read: Permission denied"]);
}
