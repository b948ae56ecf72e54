//! Traces without names that tell anything.
//!
//! Each name of a path becomes a number, the same one wherever it stands, so that the folders'
//! structure stays. Kept are the names of folders that every machine has, endings that say what
//! kind of file it is, and those that SQLite gives the files beside a database. A name becomes
//! the number of those before it: nothing of it is left that could be guessed from it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::Arc;

use crate::call::PathId;
use crate::entry::Entry;
use crate::error::Error;
use crate::header::{Header, Summary};
use crate::patterns::BESIDE;
use crate::reader::TraceReader;
use crate::writer::TraceWriter;

/// Names that every machine has.
const KEPT: &[&str] = &[
    "", ".", "..", "bin", "boot", "cache", "data", "dev", "etc", "home", "lib", "lib64", "local",
    "log", "media", "mnt", "null", "opt", "proc", "pts", "root", "run", "sbin", "self", "shm",
    "srv", "sys", "tmp", "urandom", "usr", "var", "www", "zero",
];
/// Endings that say what kind of file it is.
const ENDINGS: &[&str] = &[
    "bak", "bin", "c", "cfg", "conf", "cpp", "css", "csv", "dat", "db", "gif", "git", "gz", "h",
    "htm", "html", "idx", "ini", "jpg", "js", "json", "jsonl", "key", "lock", "log", "md", "mo",
    "new", "old", "pack", "pdf", "phar", "php", "pid", "png", "py", "pyc", "rb", "rs", "sh", "so",
    "sock", "sql", "sqlite", "sqlite3", "svg", "swp", "tar", "tmp", "toml", "ts", "txt", "wal",
    "xml", "yaml", "yml", "zip", "zst",
];
/// What stands for something without a name, as `pipe:[4711]`.
const NAMELESS: &[&[u8]] = &[b"pipe:[", b"socket:[", b"anon_inode:"];

/// Copies a trace without names that tell anything. One that was cut short stays so.
///
/// Its memory grows with the number of different names.
pub fn anonymise<R: Read, W: Write>(reader: &mut TraceReader<R>, out: W) -> Result<W, Error> {
    let mut copy =
        Copy { writer: TraceWriter::new(out, &header(reader.header()))?, names: HashMap::new() };
    while let Some(entry) = reader.next_entry()? {
        let path = |id| reader.path(id).cloned();
        copy.push(entry, path)?;
    }
    match reader.summary() {
        Some(summary) => copy.writer.finish(&Summary { ..*summary }),
        None => copy.writer.abandon(),
    }
}

fn header(of: &Header) -> Header {
    let is_version = |c: &char| c.is_ascii_digit() || *c == '.';
    Header {
        program: "program".to_owned(),
        kernel: of.kernel.chars().take_while(is_version).collect(),
        ..of.clone()
    }
}

struct Copy<W: Write> {
    writer: TraceWriter<W>,
    names: HashMap<Vec<u8>, usize>,
}

impl<W: Write> Copy<W> {
    fn push(
        &mut self,
        mut entry: Entry,
        path: impl Fn(PathId) -> Option<Arc<[u8]>>,
    ) -> Result<(), Error> {
        // Told again when it is used.
        if matches!(entry, Entry::Path { .. }) {
            return Ok(());
        }
        for id in entry.named() {
            let missing = Error::Entry("nobody told the path of this number, or long ago");
            let bytes = path(*id).ok_or(missing)?;
            *id = self.writer.path(&anonymous(&bytes, &mut self.names))?;
        }
        self.writer.push(entry)
    }
}

fn anonymous(path: &[u8], names: &mut HashMap<Vec<u8>, usize>) -> Vec<u8> {
    if NAMELESS.iter().any(|beginning| path.starts_with(beginning)) {
        return path.to_vec();
    }
    let parts = path.split(|byte| *byte == b'/').map(|name| anonymous_name(name, names));
    parts.collect::<Vec<_>>().join(&b'/')
}

fn anonymous_name(name: &[u8], names: &mut HashMap<Vec<u8>, usize>) -> Vec<u8> {
    if KEPT.iter().any(|kept| kept.as_bytes() == name) {
        return name.to_vec();
    }
    let beside = BESIDE.iter().find(|beside| name.ends_with(beside.as_bytes()));
    let beside = beside.map_or(&b""[..], |beside| beside.as_bytes());
    let name = &name[..name.len() - beside.len()];
    let dot = name.iter().rposition(|byte| *byte == b'.');
    let ending = dot.map_or(&b""[..], |dot| &name[dot..]);
    let is_kept = ENDINGS.iter().any(|kept| Some(kept.as_bytes()) == ending.get(1..));
    let ending = if is_kept { ending } else { b"" };
    let stem = &name[..name.len() - ending.len()];
    let next = names.len() + 1;
    let number = *names.entry(stem.to_vec()).or_insert(next);
    [format!("n{number}").as_bytes(), ending, beside].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(paths: &[&str]) -> Vec<String> {
        let mut names = HashMap::new();
        let new = |path: &&str| anonymous(path.as_bytes(), &mut names);
        paths.iter().map(new).map(|path| String::from_utf8_lossy(&path).into_owned()).collect()
    }

    #[test]
    fn names_become_numbers_and_structure_stays() {
        let paths = [
            "/home/eva/shop/orders.db",
            "/home/eva/shop/orders.db-wal",
            "orders.log",
            "./../shop/",
            "/proc/4711/stat",
            "secret.eva",
            "pipe:[4711]",
            "/usr/lib/libeva.so",
            ".git",
        ];
        let expected = [
            "/home/n1/n2/n3.db",
            "/home/n1/n2/n3.db-wal",
            "n3.log",
            "./../n2/",
            "/proc/n4/n5",
            "n6",
            "pipe:[4711]",
            "/usr/lib/n7.so",
            "n8.git",
        ];
        assert_eq!(renamed(&paths), expected);
    }
}
