#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::files::{Bounds, OwnFiles};
use super::lines::LineSizes;
use super::source::open_file;
use crate::testing::{in_memory, on_disk};

const BOUNDS: Bounds = Bounds { what: "a set", files: 6, bytes: 1000, sample: None };

/// Inodes, sizes and times of change of a folder and everything below it.
fn state(folder: &Path) -> Vec<(PathBuf, u64, u64, [i64; 2])> {
    let of = |path: &Path| {
        let facts = fs::symlink_metadata(path).unwrap();
        let times = [facts.mtime_nsec(), facts.ctime_nsec()];
        (path.to_owned(), facts.ino(), facts.size(), times)
    };
    let mut found = vec![of(folder)];
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.is_symlink() {
            found.extend(state(&path));
        } else {
            found.push(of(&path));
        }
    }
    found.sort();
    found
}

/// A folder with folders, a link to a file, one to the folder itself, a FIFO, and a name that
/// is no text and moves the cursor.
fn mixed() -> tempfile::TempDir {
    let folder = on_disk();
    let path = folder.path();
    fs::create_dir_all(path.join("a/b/c")).unwrap();
    fs::create_dir(path.join("none")).unwrap();
    fs::write(path.join("top"), "1").unwrap();
    fs::write(path.join("a/b/c/deep"), "22").unwrap();
    fs::write(path.join(std::ffi::OsStr::from_bytes(b"a/\xff\x1b[2J\n")), "333").unwrap();
    fs::write(path.join("a/empty"), "").unwrap();
    symlink("top", path.join("link")).unwrap();
    symlink("..", path.join("a/up")).unwrap();
    assert!(Command::new("mkfifo").arg(path.join("fifo")).status().unwrap().success());
    folder
}

fn read(folder: &Path, bounds: Bounds) -> Result<std::sync::Arc<OwnFiles>, String> {
    OwnFiles::read(folder.to_str().unwrap(), bounds).map_err(|e| e.to_string())
}

#[test]
fn a_folder_is_copied_with_all_below_it_and_nothing_else() {
    let folder = mixed();
    let own = read(folder.path(), BOUNDS).unwrap();
    let paths: Vec<&[u8]> = own.files().iter().map(|file| file.path.to_bytes()).collect();
    assert_eq!(paths, [&b"a/b/c/deep"[..], b"a/\xff\x1b[2J\n", b"top"]);
    assert_eq!((own.bytes(), own.largest(), own.entries()), (6, 3, 3 + 4 + 1));
    let told = own.material().to_string();
    let says = "your files: 3 files, 6 B; left out: 2 links, 1 special file, 1 empty file";
    assert_eq!(told, says);

    let place = in_memory();
    let opened = fs::File::open(place.path()).unwrap().into();
    own.copy_to(&opened, c"copy").unwrap();
    let copy = place.path().join("copy");
    assert_eq!(fs::read(copy.join("a/b/c/deep")).unwrap(), b"22");
    assert!(copy.join("none").is_dir());
    assert_eq!(state(&copy).len(), 1 + 4 + 3);
}

#[test]
fn what_is_copied_stays_as_it_was_to_the_time_of_its_last_access() {
    let folder = mixed();
    // A file that changed after it was last read is one whose time of access is renewed.
    let long_ago = SystemTime::now() - Duration::from_secs(100_000);
    for name in ["top", "a/b/c/deep"] {
        let file = fs::File::options().write(true).open(folder.path().join(name)).unwrap();
        file.set_times(fs::FileTimes::new().set_accessed(long_ago)).unwrap();
    }
    for folder in [folder.path().to_owned(), folder.path().join("a/b")] {
        let opened = fs::File::open(folder).unwrap();
        opened.set_times(fs::FileTimes::new().set_accessed(long_ago)).unwrap();
    }
    let times = |name: &str| fs::metadata(folder.path().join(name)).unwrap().atime();
    let before = ["top", "a/b/c/deep", "a/b", "."].map(times);
    read(folder.path(), BOUNDS).unwrap();
    assert_eq!(["top", "a/b/c/deep", "a/b", "."].map(times), before);
    let before = state(folder.path());
    read(folder.path(), BOUNDS).unwrap();
    assert_eq!(state(folder.path()), before);
}

#[test]
fn too_much_or_nothing_is_refused_with_what_to_do() {
    let folder = mixed();
    let refused = |bounds| read(folder.path(), bounds).err().unwrap();
    let few = refused(Bounds { files: 2, ..BOUNDS });
    assert!(few.contains("has more than 2 files, too much for a set; name"), "{few}");
    let small = refused(Bounds { bytes: 5, ..BOUNDS });
    assert!(small.contains("has files of more than 5 B"), "{small}");
    let none = read(&folder.path().join("none"), BOUNDS).err().unwrap();
    assert!(none.contains("has no files that a set could be made of"), "{none}");
    let deep = in_memory();
    fs::create_dir_all(deep.path().join("d/".repeat(40))).unwrap();
    let deep = read(deep.path(), BOUNDS).err().unwrap();
    assert!(deep.contains("nested more than 32 deep"), "{deep}");
}

/// Pairs of names, as of contents and their facts, are taken in proportion, and again the same.
#[test]
fn of_many_files_a_random_sample_is_taken_where_they_are_independent() {
    let folder = in_memory();
    for number in 0..2000 {
        let one = folder.path().join(format!("{:02}/{number:04}", number % 40));
        fs::create_dir_all(one.parent().unwrap()).unwrap();
        fs::write(one.with_extension("body"), "contents").unwrap();
        fs::write(one.with_extension("meta"), "m").unwrap();
    }
    fs::create_dir(folder.path().join("none")).unwrap();
    let bounds = Bounds { files: 600, bytes: 64 << 10, sample: Some(400), ..BOUNDS };
    let read = || super::files::OwnFiles::read(folder.path().to_str().unwrap(), bounds).unwrap();
    let paths = || -> Vec<_> { read().files().iter().map(|file| file.path.clone()).collect() };
    let (own, first) = (read(), paths());
    assert!((340..460).contains(&own.count()), "{}", own.count());
    let bodies = first.iter().filter(|path| path.to_bytes().ends_with(b"body")).count();
    assert!((150..250).contains(&bodies), "{bodies} of {}", own.count());
    assert_eq!(own.entries(), own.count() + 40 + 1);
    let told = own.material().to_string();
    assert!(told.contains(", drawn at random from 4,000 files, 18.0 kB"), "{told}");
    drop(own);
    assert_eq!(paths(), first);

    fs::write(folder.path().join("large"), vec![b'x'; 1 << 20]).unwrap();
    let own = read();
    assert!(own.count() > 50 && own.bytes() <= 64 << 10, "{}", own.count());
    drop(own);
    let small = Bounds { files: 6000, bytes: 2 << 20, ..bounds };
    let all = super::files::OwnFiles::read(folder.path().to_str().unwrap(), small);
    assert_eq!(all.unwrap().count(), 4001);
}

#[test]
fn what_cannot_be_read_is_named_with_the_reason() {
    let folder = mixed();
    let cases = [
        (folder.path().join("no\x1bsuch"), "no\\u{1b}such cannot be read: No such file"),
        (folder.path().join("top"), "Not a directory (os error 20); name a directory"),
        (folder.path().join("fifo"), "Not a directory"),
        ("/dev/zero".into(), "Not a directory"),
    ];
    for (path, says) in cases {
        let error = read(&path, BOUNDS).err().unwrap();
        assert!(error.contains(says), "{error}");
    }
    for (path, says) in [
        (folder.path().join("fifo"), "is a FIFO, and a regular file is needed"),
        ("/dev/zero".into(), "is a device"),
        (folder.path().to_owned(), "is a directory"),
        (folder.path().join("none/such"), "cannot be read: No such file"),
    ] {
        let error = open_file(path.to_str().unwrap()).err().unwrap();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn arms_share_what_was_read_once_whatever_becomes_of_it() {
    let folder = mixed();
    let first = read(folder.path(), BOUNDS).unwrap();
    fs::write(folder.path().join("top"), "another").unwrap();
    let second = read(folder.path(), BOUNDS).unwrap();
    assert!(std::sync::Arc::ptr_eq(&first, &second));
    drop((first, second));
    assert_eq!(read(folder.path(), BOUNDS).unwrap().bytes(), 12);
}

#[test]
fn a_logs_lines_are_looked_at_from_its_end_and_it_stays_as_it_was() {
    let folder = on_disk();
    let log = folder.path().join("app.log");
    let old = vec![b'x'; 17 << 20];
    fs::write(&log, [&old[..], b"\n", &b"123456789 123456789\n".repeat(500)].concat()).unwrap();
    let before = state(folder.path());
    let sizes = LineSizes::read(log.to_str().unwrap(), 11, 1 << 20).unwrap();
    assert_eq!(sizes.sizes, [20; 500]);
    assert_eq!(state(folder.path()), before);
    let told = sizes.material().to_string();
    assert!(told.starts_with("your files: record sizes of 500 lines, 20 B to 20 B"), "{told}");
}
