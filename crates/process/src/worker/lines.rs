//! Lines of a pipe, taken as they come: whoever stops in the middle of one is not waited
//! for, and whoever never ends one is found out.

use std::io::{self, ErrorKind, Read};

use memchr::memchr;

/// A longer line is no message: the longest have some thousand latencies.
pub(super) const LINE_BYTES_MAX: usize = 4 << 20;
/// What is read at once.
const PIECE_BYTES: usize = 64 << 10;

/// What came of a pipe and is not a whole line yet, or not asked for.
pub(super) struct Lines<R> {
    pipe: R,
    bytes: Vec<u8>,
    /// So many of them have no newline among them.
    searched: usize,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(pipe: R) -> Self {
        Self { pipe, bytes: Vec::new(), searched: 0 }
    }

    pub(super) fn pipe(&self) -> &R {
        &self.pipe
    }

    /// The next line that has come whole, without its newline.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        let Some(newline) = memchr(b'\n', &self.bytes[self.searched..]) else {
            self.searched = self.bytes.len();
            return None;
        };
        let rest = self.bytes.split_off(self.searched + newline + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        line.pop();
        self.searched = 0;
        Some(line)
    }

    /// Reads once; how many bytes came, 0 at the end.
    pub(super) fn fill(&mut self) -> io::Result<usize> {
        let before = self.bytes.len();
        if before > LINE_BYTES_MAX {
            let what = format!("a line of more than {LINE_BYTES_MAX} bytes");
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        self.bytes.resize(before + PIECE_BYTES, 0);
        let read = self.pipe.read(&mut self.bytes[before..]);
        self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
            Err(_) => self.fill(),
            Ok(read) => Ok(read),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::VecDeque;

    use super::*;

    /// A pipe of which each reading gives one part.
    struct Parts(VecDeque<&'static [u8]>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(part) = self.0.pop_front() else { return Ok(0) };
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }

    #[test]
    fn lines_are_the_same_however_they_come() {
        let mut lines = Lines::new(Parts([&b"a"[..], b"b\n\ncd\ne", b"f\n"].into()));
        let mut found = Vec::new();
        loop {
            while let Some(line) = lines.take() {
                found.push(String::from_utf8(line).unwrap());
            }
            if lines.fill().unwrap() == 0 {
                break;
            }
        }
        assert_eq!(found, ["ab", "", "cd", "ef"]);
    }

    #[test]
    fn a_line_that_never_ends_is_given_up_within_bounds() {
        let mut lines = Lines::new(io::repeat(b'x'));
        let error = loop {
            assert_eq!(lines.take(), None);
            if let Err(error) = lines.fill() {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(lines.bytes.len() <= LINE_BYTES_MAX + PIECE_BYTES);
    }
}
