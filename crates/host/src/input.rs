//! What users name to be read: bounded in size and in patience.
//!
//! A file's size is looked at before any of it is read. What has none, such as a pipe or
//! a device, is read until it has given more than it may. A FIFO that nobody writes to,
//! or a terminal at which nobody types, is given up.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use units::exact_size;

/// How long whoever writes to a FIFO may take to open it.
const WRITER_PATIENCE: Duration = Duration::from_millis(100);
/// How often to look whether somebody has.
const WRITER_CHECK: Duration = Duration::from_millis(10);
/// How long a writer may take for its next bytes.
const BYTES_PATIENCE: Duration = Duration::from_secs(10);

/// A file, pipe or device that gives so many bytes at the most.
#[derive(Debug)]
pub struct Input {
    file: File,
    limit: u64,
    /// How much of the limit is left.
    left: u64,
    /// Its size, where it is known beforehand.
    size: Option<u64>,
    /// Until when a pipe without a writer is no end.
    writer_until: Option<Instant>,
}

/// All the bytes of a file, pipe or device, unless there are more than so many.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut input = Input::open(path, limit)?;
    let mut bytes = Vec::with_capacity(input.size.unwrap_or_default() as usize);
    input.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Input {
    /// Opens it; an error where it is known beforehand to have more than `limit` bytes.
    pub fn open(path: &Path, limit: u64) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let facts = file.metadata()?;
        if facts.is_dir() {
            return Err(io::Error::new(
                ErrorKind::IsADirectory,
                "it is a directory; name a file in it",
            ));
        }
        // Files of /proc have bytes and say that they have none.
        let size = (facts.is_file() && facts.len() > 0).then_some(facts.len());
        if size.is_some_and(|size| size > limit) {
            return Err(too_large(limit));
        }
        let is_pipe = facts.file_type().is_fifo();
        let writer_until = is_pipe.then(|| Instant::now() + WRITER_PATIENCE);
        Ok(Self { file, limit, left: limit, size, writer_until })
    }

    /// Its size, where it is known beforehand.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Whether it can be read, or has come to its end, within a time.
    fn is_ready_within(&self, time: Duration) -> io::Result<bool> {
        let timeout =
            Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a pipe that gives nothing is at its end, rather than before its beginning.
    fn has_ended(&mut self) -> io::Result<bool> {
        let Some(until) = self.writer_until else { return Ok(true) };
        if self.is_ready_within(WRITER_CHECK)? {
            self.writer_until = None;
        } else if Instant::now() >= until {
            return Err(io::Error::new(ErrorKind::TimedOut, "nobody has opened it to write to it"));
        }
        Ok(false)
    }
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more than it may have shows that it has more.
        let most = buffer.len().min(usize::try_from(self.left).map_or(usize::MAX, |n| n + 1));
        let read = loop {
            match self.file.read(&mut buffer[..most]) {
                Ok(0) if most > 0 && !self.has_ended()? => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !self.is_ready_within(BYTES_PATIENCE)? {
                        let seconds = BYTES_PATIENCE.as_secs();
                        let what = format!("nothing arrived from it for {seconds} s");
                        return Err(io::Error::new(ErrorKind::TimedOut, what));
                    }
                }
                other => break other?,
            }
        };
        if read > 0 {
            self.writer_until = None;
        }
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| too_large(self.limit))?;
        Ok(read)
    }
}

fn too_large(limit: u64) -> io::Error {
    let what = format!("it is larger than the maximum of {}", exact_size(limit));
    io::Error::new(ErrorKind::FileTooLarge, what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;
    use std::process::Command;

    use super::*;

    fn kind(path: &str) -> ErrorKind {
        read(Path::new(path), 1000).unwrap_err().kind()
    }

    #[test]
    fn a_file_of_the_limit_is_read_and_one_byte_more_is_too_many() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&[7; 1000]).unwrap();
        assert_eq!(read(file.path(), 1000).unwrap(), [7; 1000]);
        let error = read(file.path(), 999).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than the maximum of 999 B");
        assert!(read(Path::new("/dev/null"), 10).unwrap().is_empty());
        assert_eq!(kind("/"), ErrorKind::IsADirectory);
        assert_eq!(kind("/no such file"), ErrorKind::NotFound);
    }

    #[test]
    fn what_has_no_size_is_read_to_the_limit() {
        assert_eq!(kind("/dev/zero"), ErrorKind::FileTooLarge);
        assert_eq!(kind("/proc/self/mounts"), ErrorKind::FileTooLarge);
        assert!(!read(Path::new("/proc/self/stat"), 1 << 20).unwrap().is_empty());
    }

    #[test]
    fn a_fifo_is_read_while_it_has_a_writer_and_given_up_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert_eq!(read(&fifo, 1000).unwrap_err().kind(), ErrorKind::TimedOut);
        let writer = |script: &str| {
            let script = format!("exec > '{}'; {script}", fifo.display());
            Command::new("sh").args(["-c", &script]).spawn().unwrap()
        };
        for (script, expected) in [("printf a; sleep 0.3; printf b", "ab"), ("sleep 0.3", "")] {
            // Its opening ends once this end is opened, which waits for it in turn.
            let mut child = writer(script);
            let found = retried(&fifo);
            assert_eq!(String::from_utf8(found.unwrap()).unwrap(), expected);
            child.wait().unwrap();
        }
        let mut endless = writer("exec cat /dev/zero");
        assert_eq!(retried(&fifo).unwrap_err().kind(), ErrorKind::FileTooLarge);
        endless.wait().unwrap();
    }

    /// A shell may take longer to start than a writer is waited for.
    fn retried(fifo: &Path) -> io::Result<Vec<u8>> {
        loop {
            match read(fifo, 1000) {
                Err(error) if error.kind() == ErrorKind::TimedOut => {}
                other => return other,
            }
        }
    }
}
