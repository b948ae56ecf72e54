//! Files that others read: the one way by which outputs are found, checked and written.
//!
//! A path is walked once, by descriptors ([`way`]), and all that follows happens in the
//! directory that the walk came to: no path is resolved twice. So the owner of a directory
//! on the way may exchange it for a link at any moment, and the file still goes to where it
//! was checked to go, or nowhere.
//!
//! A file is replaced whole, by another that is complete and on the disk before it takes the
//! name ([`replacement`]). Pipes, devices and inherited descriptors are written as they are
//! ([`stream`]). Nothing is made or changed before there is something to write.

mod error;
mod replacement;
mod stream;
mod temporary;
mod way;

use std::fs::File;
use std::io::Write as _;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

pub use self::error::OutputError;
use self::replacement::Replacement;
use self::stream::{Fifo, Stream};
pub(crate) use self::temporary::{Unfinished, unfinished};
use self::way::{ResolvedTarget, find};

/// Standard output's number.
const STDOUT: RawFd = 1;

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Those whom the umask leaves; where a file of the user's own is replaced, its readers.
    Usual,
    /// Its owner alone.
    Owner,
}

/// Where something will be written.
#[derive(Debug)]
pub struct Output {
    target: Target,
}

#[derive(Debug)]
enum Target {
    Stdout,
    /// A device, a FIFO that is being read, or an inherited descriptor.
    Stream(File),
    /// A FIFO that nobody reads yet.
    Fifo(Fifo),
    /// A file, new or replaced.
    File(Replacement),
}

impl Output {
    /// Finds out where a path leads and whether that may be written. Nothing is made or
    /// changed.
    pub fn find(path: &Path, readers: Readers) -> Result<Self, OutputError> {
        let target = match find(path)? {
            ResolvedTarget::Descriptor(STDOUT) => Target::Stdout,
            ResolvedTarget::Descriptor(number) => {
                Target::Stream(sys::descriptors::inherited_output(number)?)
            }
            ResolvedTarget::Stream(stream, kind) => stream_target(stream, kind)?,
            ResolvedTarget::Name(spot) => match spot.entry_kind() {
                None | Some(FileType::RegularFile) => Target::File(Replacement::of(spot, readers)?),
                Some(kind @ (FileType::Fifo | FileType::CharacterDevice)) => {
                    stream_target(spot.into_stream()?, kind)?
                }
                Some(FileType::Directory) => return Err(OutputError::directory()),
                Some(_) => {
                    let why = "it is neither a file nor a pipe; name a file";
                    return Err(OutputError::refused(why));
                }
            },
        };
        Ok(Self { target })
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.target, Target::Stdout)
    }

    /// The file that will stand there, links resolved; none where it is written as it is.
    pub fn file(&self) -> Option<PathBuf> {
        match &self.target {
            Target::File(replacement) => Some(replacement.path()),
            _ => None,
        }
    }

    /// Whether there is a file that will be replaced.
    pub fn replaces(&self) -> bool {
        matches!(&self.target, Target::File(replacement) if replacement.has_old())
    }

    /// The file that will be replaced, to look into; none where there is none.
    pub fn old(&self) -> Result<Option<File>, OutputError> {
        match &self.target {
            Target::File(replacement) => Ok(replacement.open_old()?),
            _ => Ok(None),
        }
    }

    /// Writes it. A file is complete and on the disk before it takes its name.
    pub fn write(self, content: &[u8]) -> Result<(), OutputError> {
        match self.target {
            Target::File(replacement) => {
                replacement.make(|mut file| {
                    file.write_all(content)?;
                    file.sync_all()
                })?;
                Ok(())
            }
            target => Ok(target.open()?.write_all(content)?),
        }
    }

    /// Opens it to be written bit by bit: a file has its name from the beginning, and can be
    /// read, too.
    pub fn begin(self) -> Result<File, OutputError> {
        self.target.open()
    }
}

impl Target {
    fn open(self) -> Result<File, OutputError> {
        match self {
            Self::Stdout => Ok(sys::descriptors::inherited_output(STDOUT)?),
            Self::Stream(file) => Ok(file),
            Self::Fifo(fifo) => fifo.await_reader(),
            Self::File(replacement) => Ok(replacement.make(|_| Ok(()))?),
        }
    }
}

fn stream_target(stream: Stream, kind: FileType) -> Result<Target, OutputError> {
    match stream.open() {
        Ok(file) => Ok(Target::Stream(file)),
        Err(error) if kind == FileType::Fifo && stream::is_unread(&error) => {
            Ok(Target::Fifo(Fifo(stream)))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
