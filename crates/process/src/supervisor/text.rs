//! Text and small files without allocating.

use std::ffi::CStr;
use std::fmt;

use rustix::fs::{Mode, OFlags, open};

/// Text of a bounded length; what is beyond is left off.
pub(super) struct Text {
    bytes: [u8; Self::BYTES_MAX],
    length: usize,
}

impl Text {
    const BYTES_MAX: usize = 512;

    pub(super) fn new() -> Self {
        Self { bytes: [0; Self::BYTES_MAX], length: 0 }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// As a path, if a zero was written at its end.
    pub(super) fn as_path(&self) -> Option<&CStr> {
        CStr::from_bytes_until_nul(self.as_bytes()).ok()
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let free = self.bytes.get_mut(self.length..).unwrap_or_default();
        for (to, from) in free.iter_mut().zip(text.as_bytes()) {
            *to = *from;
            self.length += 1;
        }
        Ok(())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What was cut in the middle of a character is as good without it.
        let text = self.as_bytes().utf8_chunks().next().map_or("", |chunk| chunk.valid());
        f.write_str(text)
    }
}

/// The beginning of a file, as much as there is room for; nothing where it cannot be read.
pub(super) fn read<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let length = rustix::io::read(&file, &mut *buffer).ok()?;
    buffer.get(..length)
}

/// A number of digits alone.
pub(super) fn number(digits: &[u8]) -> Option<i32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
