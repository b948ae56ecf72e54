//! The kernel's text files, opened once and read many times.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// More than any of these files has.
const BYTES_MAX: usize = 16 << 10;

/// An open file of `/proc` or `/sys`.
pub(crate) struct KernelFile(File);

impl KernelFile {
    /// Opens and reads a file once, to know that it can be read: some open and
    /// then refuse. Otherwise notes what is not known for lack of it.
    pub(crate) fn open(path: &str, tells: &str, unread: &mut Vec<String>) -> Option<Self> {
        let opened = File::open(path).and_then(|file| {
            let readable = file.read_at(&mut [0; BYTES_MAX], 0);
            readable.map(|_| Self(file))
        });
        opened.map_err(|e| unread.push(format!("{tells}: {path} cannot be read ({e})"))).ok()
    }

    /// Opens a file whose absence says nothing.
    pub(crate) fn open_if_there(path: &Path) -> Option<Self> {
        File::open(path).ok().map(Self)
    }

    /// Its text now, in `buffer`.
    pub(crate) fn with_text<R>(&self, read: impl FnOnce(&str) -> Option<R>) -> Option<R> {
        let mut buffer = [0_u8; BYTES_MAX];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        read(str::from_utf8(&buffer[..length]).ok()?)
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
