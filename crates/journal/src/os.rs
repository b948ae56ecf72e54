//! A directory of the operating system.

use std::fs;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FallocateFlags, FlockOperation, Mode, OFlags, SeekFrom, seek};
use rustix::io::Errno;

use crate::files::{File, Files};
use crate::options::Writing;

/// A file in more parts was made to be.
const PARTS_MAX: usize = 1000;

/// A directory of the operating system, locked for as long as this is there, where the file
/// system has such locks.
///
/// Files are opened relative to the directory and never through a symbolic link.
#[derive(Debug)]
pub struct OsFiles {
    directory: OwnedFd,
}

impl OsFiles {
    /// Opens a directory. An error, [`io::ErrorKind::WouldBlock`], where another has it open.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::new(rustix::fs::open(path, flags, Mode::empty())?)
    }

    /// The same of a directory that is open already.
    pub fn new(directory: OwnedFd) -> io::Result<Self> {
        match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(Errno::WOULDBLOCK.into()),
            // Some network file systems lock no directories.
            Ok(()) | Err(_) => Ok(Self { directory }),
        }
    }

    fn at(&self, name: &str, writing: Writing, also: OFlags) -> io::Result<fs::File> {
        let how = match writing {
            Writing::Buffered => OFlags::empty(),
            Writing::Dsync => OFlags::DSYNC,
            Writing::Direct => OFlags::DSYNC | OFlags::DIRECT,
        };
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | how | also;
        let mode = Mode::RUSR | Mode::WUSR;
        Ok(rustix::fs::openat(&self.directory, name, flags, mode)?.into())
    }
}

impl Files for OsFiles {
    type File = fs::File;

    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.directory)? {
            // What is not UTF-8 is no file of ours.
            names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
        }
        Ok(names)
    }

    fn create(&self, name: &str, writing: Writing) -> io::Result<fs::File> {
        self.at(name, writing, OFlags::CREATE | OFlags::EXCL)
    }

    fn open(&self, name: &str, writing: Writing) -> io::Result<fs::File> {
        self.at(name, writing, OFlags::empty())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let directory = &self.directory;
        Ok(rustix::fs::renameat(directory, from, directory, to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.directory, name, AtFlags::empty())?)
    }

    fn sync_names(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.directory)?)
    }
}

impl File for fs::File {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match std::os::unix::fs::FileExt::read_at(self, buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }

    fn written(&self) -> io::Result<Vec<Range<u64>>> {
        let bytes = self.bytes()?;
        let mut parts: Vec<Range<u64>> = Vec::new();
        let mut from = 0;
        while from < bytes {
            let start = match seek(self, SeekFrom::Data(from)) {
                Ok(start) => start,
                // All the rest is space, or was cut off just now.
                Err(Errno::NXIO) => break,
                // A file system that cannot tell: all of it has to be read.
                Err(Errno::INVAL | Errno::OPNOTSUPP) => from,
                Err(error) => return Err(error.into()),
            };
            let end = match seek(self, SeekFrom::Hole(start)) {
                Ok(end) if parts.len() + 1 < PARTS_MAX => end,
                Ok(_) | Err(Errno::INVAL | Errno::OPNOTSUPP) => bytes,
                Err(error) => return Err(error.into()),
            };
            parts.push(start..end);
            from = end;
        }
        Ok(parts)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn allocate(&self, bytes: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(self, FallocateFlags::empty(), 0, bytes)?)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
