//! What a path of the user's looks like, so that it can be measured without being described: a
//! cache, the assets of a page, templates, a log, or a SQLite database.
//!
//! Looking is bounded, whatever the path leads to: so many entries of folders, the first and the
//! last bytes of a file, and nothing but folders and regular files is opened. Nothing that is
//! looked at changes (`user_data/source.rs`). What is not recognised is answered with what it
//! looks like and what to do.

pub(crate) mod database;
mod folder;
mod lines;
mod suggestions;
#[cfg(test)]
mod tests;
mod times;

use std::fs::File;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, OFlags, statat};
use units::quoted;

pub use self::suggestions::{Suggestions, suggestions};
use crate::user_data::files::FILES_SEEN_MAX;
use crate::user_data::source::{open_file, open_untouched, read_part, shown, unreadable, what};

/// What is read of a file's beginning and end.
const HEAD_BYTES: u64 = 64 << 10;
const TAIL_BYTES: u64 = 1 << 20;

/// What a path was taken for.
#[derive(Clone, Debug, PartialEq)]
pub struct Recognised {
    /// The study that it is measured by …
    pub study: &'static str,
    /// … and the parameter of that, which takes the path.
    pub param: &'static str,
    /// The study's strategies, where they are not its usual ones; the first is what is done now.
    pub strategies: &'static [&'static str],
    /// How many operations a second were done, where that could be seen.
    pub per_second: Option<f64>,
    /// What it is, and why it was taken for that: `a log: its lines have times that ascend`.
    pub what: String,
}

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
struct Effort {
    entries_max: usize,
    tail_bytes: u64,
}

const FULL: Effort = Effort { entries_max: FILES_SEEN_MAX, tail_bytes: TAIL_BYTES };

/// What a path is; a sentence on what it looks like and what to do, where it is nothing that a
/// study works on.
pub fn recognise(path: &str) -> Result<Recognised, String> {
    look(path, FULL).map_err(|why| match suggestions(path).paths.as_slice() {
        [] => why,
        paths => {
            let words = paths.iter().map(|path| format!("--mine {}", quoted(path)));
            format!("{why}. In it: {}", words.collect::<Vec<_>>().join(" "))
        }
    })
}

fn look(path: &str, effort: Effort) -> Result<Recognised, String> {
    let name = || shown(Path::new(path));
    if path.is_empty() {
        return Err("the path is empty; name a folder, a log or a SQLite database".to_owned());
    }
    let stat = statat(CWD, path, AtFlags::empty()).map_err(|e| unreadable(Path::new(path), e))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            let opened = open_untouched(CWD, path, OFlags::DIRECTORY)
                .map_err(|e| unreadable(Path::new(path), e))?;
            folder::recognise(path, &opened, effort)
        }
        FileType::RegularFile => file(path, effort),
        kind => Err(format!(
            "{} is {}; name a folder of files, a log or a SQLite database",
            name(),
            what(kind)
        )),
    }
}

/// A file's beginning and end, which are the same of one that is short.
struct Ends {
    size: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Ends {
    fn read(path: &str, effort: Effort) -> Result<Self, String> {
        let (file, stat) = open_file(path)?;
        let (mut file, size) = (File::from(file), stat.st_size as u64);
        let mut part = |from: u64, bytes: u64| {
            read_part(&mut file, from, bytes).map_err(|e| unreadable(Path::new(path), e))
        };
        let (head_bytes, tail_bytes) = (size.min(HEAD_BYTES), size.min(effort.tail_bytes));
        let head = part(0, head_bytes)?;
        let tail = part(size - tail_bytes, tail_bytes)?;
        Ok(Self { size, head, tail })
    }

    /// Whether the end is all of it.
    fn is_whole(&self) -> bool {
        self.tail.len() as u64 == self.size
    }
}

fn file(path: &str, effort: Effort) -> Result<Recognised, String> {
    let ends = Ends::read(path, effort)?;
    let wrong = |why: &str| Err(format!("{} {why}", shown(Path::new(path))));
    if ends.head.is_empty() {
        return wrong("is an empty file; name one that has been written to");
    }
    if database::is_database(&ends.head) {
        return database::recognise(&ends.head).or_else(|why| wrong(&why));
    }
    if let Some(why) = known_otherwise(path, &ends.head) {
        return wrong(&why);
    }
    if !lines::is_text(&ends.head) || !lines::is_text(&ends.tail) {
        return wrong(
            "is a binary file, neither lines of text nor a SQLite database; `iotoll record -- \
             COMMAND` shows what a program does with it",
        );
    }
    lines::recognise(path, &ends).or_else(|why| wrong(&why))
}

/// What else a file says by its first bytes that it is, and what to do.
fn known_otherwise(path: &str, head: &[u8]) -> Option<String> {
    const COMPRESSED: [(&[u8], &str); 5] = [
        (b"\x1f\x8b", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xfd7zXZ\0", "xz"),
        (b"BZh", "bzip2"),
        (b"PK\x03\x04", "zip"),
    ];
    if let Some((_, by)) = COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(format!("is compressed by {by}; unpack it, and name what was in it"));
    }
    let beside =
        ["-wal", "-shm", "-journal"].iter().find_map(|ending| path.strip_suffix(ending))?;
    let is_there = statat(CWD, beside, AtFlags::empty()).is_ok();
    is_there
        .then(|| format!("belongs to a SQLite database; name that: {}", shown(Path::new(beside))))
}
