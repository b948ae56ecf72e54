//! Where a result goes as JSON or CSV, found out before anything is measured.
//!
//! A file is replaced whole, by another that is complete and on the disk before it takes
//! the name: whatever goes wrong, the name stands for the old result or for the new one.
//! Pipes, devices and inherited descriptors are written as they are.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, RawFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::exit::UsageError;
use crate::output;
use crate::replacement::Replacement;

/// How long a FIFO that nobody reads is waited for once there is a result.
const READER_PATIENCE: Duration = Duration::from_secs(10);

/// Where a result goes.
pub(crate) enum Destination {
    /// Standard output, in place of the report.
    Stdout,
    /// A pipe, a device or an inherited descriptor, which is written as it is.
    Stream(PathBuf, File),
    /// A FIFO that nobody read yet.
    Fifo(PathBuf),
    /// A file, which is replaced.
    File(Replacement),
}

impl Destination {
    /// Finds out what the target is and whether it may be written, so that a wrong path is
    /// reported before the run and not after. Nothing is made or changed by that.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        let target = match descriptor_number(path) {
            Some(1) => Ok(Self::Stdout),
            Some(number) => host::descriptors::inherited_output(number)
                .map(|file| Self::Stream(path.to_owned(), file)),
            None => Self::named(path),
        };
        Ok(target.map_err(|e| {
            UsageError(format!("cannot write the result to {}: {e}", path.display()))
        })?)
    }

    /// What a path other than a descriptor's stands for.
    fn named(path: &Path) -> io::Result<Self> {
        let kind = match fs::metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Replacement::of(path).map(Self::File);
            }
            Err(error) => return Err(error),
        };
        if kind.is_file() {
            Replacement::of(path).map(Self::File)
        } else if kind.is_fifo() {
            match open_fifo(path) {
                Ok(file) => Ok(Self::Stream(path.to_owned(), file)),
                Err(error) if is_unread(&error) => Ok(Self::Fifo(path.to_owned())),
                Err(error) => Err(error),
            }
        } else if kind.is_char_device() {
            let flags = OFlags::NOCTTY.bits().cast_signed();
            let file = File::options().write(true).custom_flags(flags).open(path)?;
            Ok(Self::Stream(path.to_owned(), file))
        } else {
            let what = if kind.is_dir() { "a directory" } else { "neither a file nor a pipe" };
            Err(io::Error::other(format!("it is {what}; name a file")))
        }
    }

    /// Whether it takes the report's place.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self, Self::Stdout)
    }

    /// Writes the result. A reader that goes away before it has read all has had enough.
    pub(crate) fn write(self, content: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Stdout => output::print(io::stdout().lock(), content),
            Self::Stream(path, mut file) => {
                output::unless_gone(file.write_all(content)).with_context(|| cannot(&path))
            }
            Self::Fifo(path) => await_reader(&path)
                .and_then(|mut file| output::unless_gone(file.write_all(content)))
                .with_context(|| cannot(&path)),
            Self::File(replacement) => replacement.write(content),
        }
    }
}

fn cannot(path: &Path) -> String {
    format!("cannot write the result to {}", path.display())
}

/// The descriptor that a path is one of the usual names of.
fn descriptor_number(path: &Path) -> Option<RawFd> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => {
            let folder = path.parent()?;
            let is_of_descriptors = ["/dev/fd", "/proc/self/fd"].map(Path::new).contains(&folder);
            let name = path.file_name().and_then(OsStr::to_str).filter(|_| is_of_descriptors)?;
            name.parse().ok().filter(|number| *number >= 0)
        }
    }
}

/// Opens a FIFO that is being read; an error (`ENXIO`) where it is not.
fn open_fifo(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().write(true).custom_flags(flags).open(path)?;
    let set = rustix::fs::fcntl_getfl(file.as_fd())?;
    rustix::fs::fcntl_setfl(file.as_fd(), set - OFlags::NONBLOCK)?;
    Ok(file)
}

fn is_unread(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NXIO.raw_os_error())
}

fn await_reader(path: &Path) -> io::Result<File> {
    let began = Instant::now();
    loop {
        match open_fifo(path) {
            Err(error) if !is_unread(&error) => return Err(error),
            Err(_) if began.elapsed() > READER_PATIENCE => {
                let why = format!(
                    "nothing was reading it for {} s after the run ended",
                    READER_PATIENCE.as_secs()
                );
                return Err(io::Error::other(why));
            }
            Err(_) => sleep(Duration::from_millis(50)),
            opened => return opened,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_descriptors_are_known() {
        let number = |path| descriptor_number(Path::new(path));
        assert_eq!(number("/dev/stdout"), Some(1));
        assert_eq!(number("/dev/stderr"), Some(2));
        assert_eq!(number("/dev/fd/63"), Some(63));
        assert_eq!(number("/proc/self/fd/7"), Some(7));
        for other in ["/dev/fd/-1", "/dev/fd/x", "/dev/fd", "/dev/null", "fd/1", "/tmp/fd/1", ""] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
