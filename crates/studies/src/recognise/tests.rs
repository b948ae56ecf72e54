#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rusqlite::Connection;
use rustix::fs::{FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::testing::on_disk;

struct Own(TempDir);

impl Own {
    fn new() -> Self {
        Self(on_disk())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> &Self {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), contents).unwrap();
        self
    }

    fn files(&self, number: usize, name: impl Fn(usize) -> String, bytes: usize) -> &Self {
        (0..number).for_each(|at| _ = self.file(&name(at), vec![b'x'; bytes]));
        self
    }

    fn found(&self, name: &str) -> Recognised {
        recognise(self.path(name).to_str().unwrap()).unwrap_or_else(|why| panic!("{why}"))
    }

    fn refused(&self, name: &str) -> String {
        recognise(self.path(name).to_str().unwrap()).unwrap_err()
    }
}

fn lines(count: usize) -> String {
    let line =
        |n: usize| format!("2026-11-24 {:02}:{:02}:{:02} a line\n", n / 3600, n / 60 % 60, n % 60);
    (0..count).map(line).collect()
}

#[test]
fn many_small_files_are_a_cache() {
    let own = Own::new();
    own.files(800, |n| format!("cache/{:02x}/{n}.bin", n % 16), 4000);
    let found = own.found("cache");
    assert_eq!((found.study, found.param), ("files", "set"));
    assert_eq!(found.what, "a cache: 800 small files, 3.20 MB together, 4.00 kB on average");
    own.files(5001, |n| format!("many/{n}"), 1);
    let what = own.found("many").what;
    assert!(what.ends_with("1 B on average; about 1,000 are taken at random"), "{what}");
}

#[test]
fn what_pages_load_is_a_page_and_templates_are_templates() {
    let own = Own::new();
    own.file("web/a.css", "x")
        .file("web/js/b.JS", "x")
        .file("web/c.png", "x")
        .file("web/NOTE", "x");
    let found = own.found("web");
    assert_eq!((found.study, found.param), ("page", "set"));
    assert!(found.what.contains("3 of 4 files"), "{}", found.what);
    own.files(12, |n| format!("templates/{n}.html.twig"), 90);
    assert_eq!(own.found("templates").study, "cache");
    // Pictures alone are kept as a cache keeps them.
    own.files(12, |n| format!("thumbs/{n}.jpg"), 90);
    assert_eq!(own.found("thumbs").study, "files");
    own.files(600, |n| format!("all/{n}.js"), 9);
    let why = own.refused("all");
    assert!(
        why.contains("looks like the files of a page")
            && why.contains("at most 512 files and 64 MiB"),
        "{why}"
    );
}

#[test]
fn lines_that_grew_are_a_log_with_the_rate_at_which_they_did() {
    let own = Own::new();
    own.file("data/shop", lines(3600));
    let found = own.found("data/shop");
    assert_eq!((found.study, found.param), ("log", "sample"));
    assert_eq!(found.per_second, Some(1.0));
    assert_eq!(
        found.what,
        "a log: its lines have times that ascend, 27 B a line; its last 3,600 lines were written in \
         60 min, 1.00 a second on average"
    );
    own.file("plain.log", "one\ntwo\n");
    let found = own.found("plain.log");
    assert_eq!(found.per_second, None);
    assert!(found.what.contains("its name says so"), "{}", found.what);
    assert!(found.what.contains("cannot be told: its lines have no times"), "{}", found.what);
    own.file("events", "{\"a\":1}\n{\"a\":2}\n");
    assert!(own.found("events").what.contains("each line is a JSON object"));
}

#[test]
fn a_log_of_any_size_is_looked_at_by_its_ends_alone() {
    let own = Own::new();
    let log = File::create(own.path("huge")).unwrap();
    log.write_all_at(lines(9000).as_bytes(), 0).unwrap();
    log.write_all_at(lines(80_000).as_bytes(), 100 << 30).unwrap();
    assert_eq!(own.found("huge").study, "log");
    log.set_len(200 << 30).unwrap();
    assert!(own.refused("huge").contains("is a binary file"));
}

#[test]
fn a_database_is_known_by_its_header_and_stays_as_it_was() {
    let own = Own::new();
    for (name, journal, page) in [("a.db", "wal", 4096), ("b", "delete", 65_536)] {
        let shop = Connection::open(own.path(name)).unwrap();
        shop.pragma_update(None, "page_size", page as i64).unwrap();
        shop.pragma_update(None, "journal_mode", journal).unwrap();
        shop.execute_batch("CREATE TABLE t (a)").unwrap();
        let before = fs::read(own.path(name)).unwrap();
        let found = own.found(name);
        assert_eq!((found.study, found.param), ("sqlite", "database"));
        let now = found.strategies.first().copied();
        assert_eq!(now, (journal == "wal").then_some("wal-full"));
        let pages = format!("pages of {} B", units::count(page));
        assert!(found.what.contains(&pages), "{}", found.what);
        if journal == "wal" {
            let why = own.refused("a.db-wal");
            assert!(why.contains("name that: ") && why.ends_with("a.db"), "{why}");
        }
        assert_eq!(fs::read(own.path(name)).unwrap(), before);
    }
    own.file("cut.db", b"SQLite format 3\0\x10\0");
    assert!(own.refused("cut.db").contains("its header is damaged"));
}

#[test]
fn each_thing_that_is_none_of_these_has_a_sentence() {
    let own = Own::new();
    let says = |name: &str, parts: &[&str]| {
        let why = own.refused(name);
        for part in parts {
            assert!(why.contains(part), "{part:?} is not in: {why}");
        }
    };
    says("none", &["No such file", "check the path"]);
    own.file("nothing", "");
    says("nothing", &["is an empty file"]);
    fs::create_dir(own.path("bare")).unwrap();
    says("bare", &["is a folder without files"]);
    own.files(3, |n| format!("hollow/{n}"), 0);
    says("hollow", &["has only empty files"]);
    symlink("/etc/passwd", own.path("bare/link")).unwrap();
    says("bare", &["only links or special files"]);
    symlink("round", own.path("about")).unwrap();
    symlink("about", own.path("round")).unwrap();
    says("round", &["its links lead in a circle"]);
    let mode = Mode::from(0o600);
    mknodat(CWD, own.path("fifo"), FileType::Fifo, mode, 0).unwrap();
    says("fifo", &["is a FIFO"]);
    let _socket = UnixListener::bind(own.path("socket")).unwrap();
    says("socket", &["is a socket"]);
    for device in ["/dev/zero", "/dev/full", "/dev/tty"] {
        assert!(recognise(device).unwrap_err().contains("is a device"));
    }
    own.file("app.log.2.gz", b"\x1f\x8b\x08\0");
    says("app.log.2.gz", &["is compressed by gzip", "unpack it"]);
    own.file("program", b"\x7fELF\x02\x01\0\0");
    says("program", &["is a binary file", "iotoll record"]);
    own.file("notes", "a thought\nand another\n");
    says("notes", &["is text", "--set log.sample="]);
    own.file("word", "no end");
    says("word", &["without the end of a line"]);
    own.files(4, |n| format!("few/{n}"), 9);
    says("few", &["has only 4 files", "--set files.set="]);
    own.files(12, |n| format!("logs/{n}.log"), 9);
    own.file("logs/a.log", lines(20));
    says("logs", &["is a folder of logs", "In it: --mine ", "logs/a.log"]);
}

#[test]
fn folders_beyond_the_bounds_are_answered_and_not_walked_to_the_end() {
    let own = Own::new();
    fs::create_dir_all(own.path(&"deep/".repeat(40))).unwrap();
    assert!(own.refused("deep").contains("folders more than 32 deep"));
    own.files(20, |n| format!("large/{n}.css"), 1);
    File::options().write(true).open(own.path("large/1.css")).unwrap().set_len(65 << 20).unwrap();
    let refused = own.refused("large");
    assert!(refused.contains("20 files (68.2 MB) are too much for a page"), "{refused}");
    own.files(20, |n| format!("some/{n}"), 1);
    let few = Effort { entries_max: 19, ..FULL };
    let refused = look(own.path("some").to_str().unwrap(), few).unwrap_err();
    assert!(refused.contains("more than 19 entries"), "{refused}");
}

#[test]
fn what_may_not_be_read_is_answered() {
    // The superuser may read everything.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let own = Own::new();
    own.file("closed/a.log", "x\n");
    fs::set_permissions(own.path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    assert!(own.refused("closed").contains("give yourself permission"));
    fs::set_permissions(own.path("closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn at_most_three_things_of_a_folder_are_suggested_and_none_that_is_hidden() {
    let own = Own::new();
    let of = |name: &str| suggestions(own.path(name).to_str().unwrap());
    assert_eq!(of(""), Suggestions::default());
    own.file(".hidden.log", lines(20)).file("a.bin", b"\0\0");
    assert_eq!(of(""), Suggestions { has_files: true, paths: Vec::new() });
    for name in ["b.log", "c.log", "d.log", "e.log"] {
        own.file(name, lines(20));
    }
    let found = of("").paths;
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].ends_with("/b.log"), "{found:?}");
    assert_eq!(of("b.log"), Suggestions::default());
    own.file("app/data/shop.db", b"SQLite format 3\0").file("app/log/a.log", lines(20));
    own.files(12, |n| format!("app/cache/{n}"), 9);
    let found = of("app").paths;
    assert!(found.len() == 2 && found[0].ends_with("app/cache"), "{found:?}");
    assert!(found[1].ends_with("app/log/a.log"), "{found:?}");
    assert!(own.refused("app").contains("has a database among its files"));
}
