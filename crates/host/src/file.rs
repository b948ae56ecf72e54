//! The kernel's text files, opened once and read many times.
//!
//! Readings around a slice are made of these, and of parsers of our own that find a
//! few numbers in place. Those of procfs-core build maps of owned strings: 30 µs for
//! `vmstat`, 1 µs for each file of pressure and for `io`, where a reading takes 50 µs in
//! all. Some refuse a file that lacks a line nobody asked for (`meminfo` in some
//! sandboxes, `cpu.pressure` before Linux 5.13). They serve where a reading is rare
//! ([`crate::process`], [`crate::cgroup`], [`crate::cpu`]).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// More than any of these files has.
const BYTES_MAX: usize = 16 << 10;

/// An open file of `/proc` or `/sys`.
#[derive(Debug)]
pub(crate) struct KernelFile(File);

impl KernelFile {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Whether it can be read.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.0.read_at(&mut [0; BYTES_MAX], 0).map(drop)
    }

    /// What `read` makes of its bytes now.
    pub(crate) fn with_bytes<R>(&self, read: impl FnOnce(&[u8]) -> R) -> io::Result<R> {
        let mut buffer = [0_u8; BYTES_MAX];
        let length = self.0.read_at(&mut buffer, 0)?;
        Ok(read(&buffer[..length]))
    }

    /// What `read` makes of its text now.
    pub(crate) fn with_text<R>(&self, read: impl FnOnce(&str) -> Option<R>) -> Option<R> {
        self.with_bytes(|bytes| read(str::from_utf8(bytes).ok()?)).ok()?
    }

    /// The single number that it holds; `None` also for `max`.
    pub(crate) fn number(&self) -> Option<u64> {
        self.with_text(|text| text.trim().parse().ok())
    }
}

/// The number after `name` and blanks or a colon, on a line of its own.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.strip_prefix([' ', ':', '\t'])?;
        rest.split_ascii_whitespace().next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "active_file 3\ninactive_file 4\nMemTotal:   5 kB\nMemTotalled: 6\n";
        assert_eq!(field(text, "active_file"), Some(3));
        assert_eq!(field(text, "file"), None);
        assert_eq!(field(text, "MemTotal"), Some(5));
    }
}
