//! `--mine`: a user's own files, named by their paths alone.

#![allow(clippy::unwrap_used, missing_docs)]

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Places, assert_fails, entries, run, stderr, stdout};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// What a shop has below `var`: a cache of 800 files, a log, and a database of 20 MB.
struct Shop {
    folder: TempDir,
    places: Places,
}

const MINE: [&str; 3] = ["var/cache", "var/log/shop.log", "var/data/shop.db"];

impl Shop {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let var = folder.path().join("var");
        for number in 0..800 {
            let within = var.join(format!("cache/{:02x}", number % 16));
            fs::create_dir_all(&within).unwrap();
            fs::write(within.join(format!("{number}.php")), vec![b'x'; 500 + number * 7]).unwrap();
        }
        fs::create_dir(var.join("log")).unwrap();
        let line = |n: usize| {
            let time = n / 4;
            let (h, m, s) = (time / 3600, time / 60 % 60, time % 60);
            format!("2026-11-24 {h:02}:{m:02}:{s:02} INFO order {n} {}\n", "x".repeat(n % 90))
        };
        fs::write(var.join("log/shop.log"), (0..8000).map(line).collect::<String>()).unwrap();
        fs::create_dir(var.join("data")).unwrap();
        make_database(&var.join("data/shop.db"));
        Self { folder, places: Places::new() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn compare(&self, mine: &[&str], more: &[&str]) -> Output {
        let [disk, ram] = self.places.args();
        let mut args = vec!["compare".to_owned(), disk, ram];
        args.extend(mine.iter().flat_map(|name| ["--mine".to_owned(), self.path(name)]));
        args.extend(more.iter().map(|text| (*text).to_owned()));
        run(args)
    }

    /// Contents, inodes and times of all that there is.
    fn state(&self) -> BTreeMap<PathBuf, (Vec<u8>, u64, [i64; 4])> {
        let mut found = BTreeMap::new();
        add(&self.folder.path().join("var"), &mut found);
        found
    }
}

fn add(folder: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, u64, [i64; 4])>) {
    for path in entries(folder) {
        let facts = fs::symlink_metadata(&path).unwrap();
        let times = [facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec()];
        let contents = if facts.is_dir() { Vec::new() } else { fs::read(&path).unwrap() };
        if facts.is_dir() {
            add(&path, found);
        }
        found.insert(path, (contents, facts.ino(), times));
    }
}

const DATABASE: &str = "PRAGMA journal_mode = wal;
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, body TEXT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
    INSERT INTO item (name, price, body) SELECT 'item ' || i, i, printf('%.900c', 'y') FROM n;";

/// By SQLite's own program, as an application on another version would, where it is installed.
fn make_database(path: &Path) {
    let made = Command::new("sqlite3").arg(path).arg(DATABASE).output();
    if !made.is_ok_and(|output| output.status.success()) {
        common::skip("mine", "sqlite3 is not installed; rusqlite makes the database");
        Connection::open(path).unwrap().execute_batch(DATABASE).unwrap();
    }
    assert!(fs::metadata(path).unwrap().len() > 18_000_000);
}

/// A text whose lines were broken anywhere.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_named_is_measured_by_copies_and_its_rows_have_its_names() {
    let shop = Shop::new();
    let before = shop.state();
    let json = shop.path("result.json");
    let few = ["--strategy", "direct,held,wal-full,wal-full-tx", "--set", "files.operation=write"];
    let most = ["--budget", "300s", "--blocks", "1", "--json", &json];
    let output = shop.compare(&MINE, &[&few[..], &most].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let result: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert!(shop.state() == before, "something of the user's has changed");
    shop.places.assert_empty();
    let told = unwrapped(&stderr(&output));
    for says in [
        "cache (study files) is taken for a cache: 800 small files, ",
        "shop.log (study log) is taken for a log: its lines have times that ascend, ",
        "written in 33 min, 4.00 a second on average.",
        "shop.db (study sqlite) is taken for a SQLite database, by its header: pages of 4,096 B, a \
         write-ahead log.",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    let screen = unwrapped(&stdout(&output));
    for says in [
        "cache: your files: 800 files, ",
        "shop.log: your files: record sizes of 8,000 lines, ",
        "shop.db: your files: a database of ",
        "12 statements a request, generated from its tables: 10 reads and 2 writes",
        "shop.db: answer a request from a database (now: WAL, synchronous=FULL)",
    ] {
        assert!(screen.contains(says), "{says}: {screen}");
    }
    assert!(!screen.contains("Generated data"), "{screen}");
    let plan = &result["plan"];
    let subjects: std::collections::BTreeSet<&str> = plan["arms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arm| arm["id"].as_str().unwrap().split_once('/').unwrap().0)
        .collect();
    assert_eq!(Vec::from_iter(subjects), ["files:cache", "log:shop.log", "sqlite:shop.db"]);
    assert_eq!(plan["arms"][0]["label"], "cache");
    let rate = plan["per_second"]["log:shop.log"].as_f64().unwrap();
    assert!((3.99..4.01).contains(&rate), "{rate}");
    assert!(plan["taken_for"]["files:cache"].as_str().unwrap().starts_with("a cache: 800 "));
}

#[test]
fn a_plan_that_was_kept_gives_the_same_plan_again() {
    let shop = Shop::new();
    let plan = shop.path("shop.toml");
    let dry = shop.compare(&MINE, &["--dry-run", "--write-plan", &plan]);
    assert!(dry.status.success(), "{}", stderr(&dry));
    let from_places = |output: &Output| {
        let text = stdout(output);
        let at = text.find("Places\n").unwrap_or_else(|| panic!("{text}{}", stderr(output)));
        // Others that use a place change what is free on it, of which slices may leave a share:
        // `25.3 GB of 25.3 GB free`, `369 MB and 73,738 inodes at once;`, on one line or two.
        let mut words: Vec<String> = text[at..].split_whitespace().map(str::to_owned).collect();
        for (last, before) in [("free", 5), ("once;", 6)] {
            while let Some(at) = words.iter().position(|word| word == last) {
                words.drain(at - before..=at);
            }
        }
        words
    };
    for args in [vec!["compare", &plan], vec!["compare", "--plan", &plan]] {
        let again = run([&args[..], &["--dry-run", "--allow-commands"]].concat());
        assert_eq!(from_places(&again), from_places(&dry));
        // What it reads is asked for first, as of any file.
        let asked = run([&args[..], &["--budget", "1s"]].concat());
        assert_fails(&asked, 2, &["read     log.sample", "nothing was run or read"]);
    }
    let kept = fs::read_to_string(&plan).unwrap();
    let again = shop.path("again.toml");
    run(["compare", &plan, "--dry-run", "--allow-commands", "--write-plan", &again]);
    let without_comments = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    let again = fs::read_to_string(&again).unwrap();
    assert_eq!(without_comments(&again), without_comments(&kept));
}

#[test]
fn several_of_one_kind_are_told_apart_and_other_studies_run_where_they_are_asked_for() {
    let shop = Shop::new();
    fs::create_dir(shop.path("old")).unwrap();
    fs::copy(shop.path("var/log/shop.log"), shop.path("old/shop.log")).unwrap();
    let two = ["var/log/shop.log", "old/shop.log"];
    let dry = stdout(&shop.compare(&two, &["--dry-run", "--study", "log,stream"]));
    for says in ["log:log-shop.log: ", "log:old-shop.log: ", "stream: "] {
        assert!(dry.contains(&format!("\n{says}")), "{says}: {dry}");
    }
    assert!(!dry.contains("\nlog: ") && !dry.contains("generated: records"), "{dry}");
    let twice = shop.compare(&["var/cache", "var/cache"], &["--dry-run"]);
    assert_fails(&twice, 2, &["it is named twice"]);
}

#[test]
fn each_wrong_path_is_answered_with_a_sentence() {
    let shop = Shop::new();
    let fails = |name: &str, says: &[&str]| {
        let output = shop.compare(&[name], &["--dry-run"]);
        assert_fails(&output, 2, &[&["--mine: "], says].concat());
        assert_eq!(stdout(&output), "");
    };
    fails("none", &["No such file or directory", "check the path"]);
    fs::write(shop.path("empty"), "").unwrap();
    fails("empty", &["is an empty file"]);
    fs::create_dir(shop.path("bare")).unwrap();
    fails("bare", &["is a folder without files"]);
    symlink("b", shop.path("a")).unwrap();
    symlink("a", shop.path("b")).unwrap();
    fails("a", &["its links lead in a circle"]);
    assert!(Command::new("mkfifo").arg(shop.path("fifo")).status().unwrap().success());
    fails("fifo", &["is a FIFO"]);
    let _socket = UnixListener::bind(shop.path("socket")).unwrap();
    fails("socket", &["is a socket"]);
    fails("/dev/zero", &["is a device"]);
    let huge = fs::File::create(shop.path("huge")).unwrap();
    huge.set_len(100 << 30).unwrap();
    fails("huge", &["is a binary file"]);
    fails("var/data", &["is a folder of databases", "In it: --mine ", "var/data/shop.db"]);
    fails("var/log", &["is a folder of logs", "In it: --mine ", "var/log/shop.log"]);
    fs::write(shop.path("notes"), "a thought\nand another\n").unwrap();
    fails("notes", &["is text", "--set log.sample="]);
    let wrong = shop.compare(&["var/cache"], &["--write-plan", "-"]);
    assert_fails(&wrong, 2, &["--write-plan keeps a plan: name a file"]);
    let [disk, _] = shop.places.args();
    let plan = shop.path("x.toml");
    fs::write(&plan, "").unwrap();
    assert_fails(&run(["compare", &disk, &plan, "--plan", &plan]), 2, &["are two plan files"]);
    let agreed = run(["compare", &disk, "--allow-commands"]);
    assert_fails(&agreed, 2, &["--allow-commands agrees to a plan file"]);
}

#[test]
fn files_that_are_there_and_not_used_are_named_with_the_command_that_uses_them() {
    let shop = Shop::new();
    let var = shop.path("var");
    let note = |args: &[&str]| stderr(&run([&["compare", "--dry-run"], args].concat()));
    let told = note(&[&var, "ram=/dev/shm"]);
    let command = format!(
        "To use yours: iotoll compare --mine {var}/cache --mine {var}/data/shop.db --mine \
         {var}/log/shop.log {var} ram=/dev/shm"
    );
    assert!(told.contains(&format!("the files in {var} are not used")), "{told}");
    assert!(told.contains(&command), "{told}");
    let [disk, ram] = shop.places.args();
    for args in [
        vec![disk.as_str(), &ram],
        // It has nothing to do with files of one's own.
        vec![&var, "--study", "blocks"],
        vec![&var, "--set", &format!("log.sample={var}/log/shop.log")],
        vec![&var, "--mine", &format!("{var}/cache")],
    ] {
        assert!(!note(&args).contains("are not used"), "{args:?}: {}", note(&args));
    }
}
