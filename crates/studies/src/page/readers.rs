//! How a request reads a page's files.
//!
//! Each leaves the contents where whoever asked can use them: in a buffer, in
//! mapped memory that is there when touched, in the kernel's hands on their way
//! out, or in the process since an earlier request. A request that opens a file
//! asks for its size, as anyone must who reads a file whole or announces its
//! length.

use std::hint::black_box;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use engine::study::{Doing, StudyError};
use rustix::fs::{self, AtFlags, Mode, OFlags, Stat, fstat, sendfile, statat};
use rustix::io::{Errno, pread};
use rustix::mm::MapFlags;
use sys::aligned::Aligned;
use sys::mapping::Mapping;

use super::sets::{PageFile, Sets};
use super::spec::Strategy;
use crate::file::{open_for_reading, read_whole};

const OPENING: &str = "opening a page's file";
const SIZING: &str = "asking for the size of a page's file";
const READING: &str = "reading a page's file";
const MAPPING: &str = "mapping a page's file";
const SENDING: &str = "sending a page's file to /dev/null";

/// Reads a page's files in one of the ways.
pub(super) trait Reader {
    /// Reads all files of one set; says how many bytes it asked the system for.
    fn page(&mut self, sets: &Sets, set: usize) -> Result<u64, StudyError>;
}

/// The strategy's reader, with what it keeps from request to request opened or read.
pub(super) fn open(strategy: Strategy, sets: &Sets) -> Result<Box<dyn Reader>, StudyError> {
    Ok(match strategy {
        Strategy::Read => Box::new(Read { buffer: Aligned::zeros(sets.file_bytes_max() as usize) }),
        Strategy::Mmap => Box::new(Mmap),
        Strategy::Sendfile => Box::new(Sendfile::open()?),
        Strategy::Held => Box::new(Held::open(sets)?),
        Strategy::Cached => Box::new(Cached::read(sets)?),
    })
}

/// Opens a file as a request does that knows nothing of it yet.
#[inline]
fn open_sized(sets: &Sets, file: &PageFile) -> Result<(OwnedFd, usize), StudyError> {
    let open = open_for_reading(&sets.folder, &file.path).doing(OPENING)?;
    let size = fstat(&open).doing(SIZING)?.st_size as usize;
    if size == file.bytes as usize {
        Ok((open, size))
    } else {
        Err(StudyError::Ended { doing: READING, got: size, wanted: file.bytes as usize })
    }
}

/// Into a buffer, by open, fstat, read and close.
struct Read {
    buffer: Aligned,
}

impl Reader for Read {
    fn page(&mut self, sets: &Sets, set: usize) -> Result<u64, StudyError> {
        for file in sets.files(set) {
            let (open, size) = open_sized(sets, file)?;
            read_whole(open, self.buffer.at_least(size), READING)?;
        }
        Ok(sets.set_bytes())
    }
}

/// Into the address space, by open, fstat, mmap, close and munmap.
struct Mmap;

impl Reader for Mmap {
    fn page(&mut self, sets: &Sets, set: usize) -> Result<u64, StudyError> {
        let page_bytes = rustix::param::page_size();
        for file in sets.files(set) {
            let (open, size) = open_sized(sets, file)?;
            let mapping = Mapping::of_file(&open, 0, size, MapFlags::PRIVATE).doing(MAPPING)?;
            for offset in (0..size).step_by(page_bytes) {
                black_box(mapping.byte(offset).load(Ordering::Relaxed));
            }
            mapping.unmap().doing(MAPPING)?;
        }
        Ok(sets.set_bytes())
    }
}

/// To a sink, by open, fstat, sendfile and close. The sink drops the pages that it
/// is given without looking at them, so this is what sending costs before a
/// network takes part.
struct Sendfile {
    sink: OwnedFd,
}

impl Sendfile {
    fn open() -> Result<Self, StudyError> {
        let sink = fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
        Ok(Self { sink: sink.doing("opening /dev/null")? })
    }
}

impl Reader for Sendfile {
    fn page(&mut self, sets: &Sets, set: usize) -> Result<u64, StudyError> {
        for file in sets.files(set) {
            let (open, size) = open_sized(sets, file)?;
            let mut left = size;
            while left > 0 {
                match sendfile(&self.sink, &open, None, left) {
                    Ok(0) => {
                        let got = size - left;
                        return Err(StudyError::Ended { doing: SENDING, got, wanted: size });
                    }
                    Ok(taken) => left -= taken,
                    Err(Errno::INVAL) => {
                        return Err(StudyError::Unsuited(
                            "the kernel or this file system does not take sendfile(2) to \
                             /dev/null; time the other strategies"
                                .to_owned(),
                        ));
                    }
                    Err(error) => return Err(error).doing(SENDING),
                }
            }
        }
        Ok(sets.set_bytes())
    }
}

/// Into a buffer, by pread from handles and sizes that are kept. A file that is
/// replaced by another of its name goes unnoticed.
struct Held {
    files: Vec<Vec<OwnedFd>>,
    buffer: Aligned,
}

impl Held {
    fn open(sets: &Sets) -> Result<Self, StudyError> {
        let open = |file: &PageFile| open_for_reading(&sets.folder, &file.path).doing(OPENING);
        let files = (0..sets.count()).map(|set| sets.files(set).iter().map(open).collect());
        let files = files.collect::<Result<_, StudyError>>()?;
        Ok(Self { files, buffer: Aligned::zeros(sets.file_bytes_max() as usize) })
    }
}

impl Reader for Held {
    fn page(&mut self, sets: &Sets, set: usize) -> Result<u64, StudyError> {
        for (open, file) in self.files[set].iter().zip(sets.files(set)) {
            let wanted = file.bytes as usize;
            let buffer = self.buffer.at_least(wanted);
            let mut got = 0;
            while got < wanted {
                match pread(open, &mut buffer[got..], got as u64).doing(READING)? {
                    0 => return Err(StudyError::Ended { doing: READING, got, wanted }),
                    read => got += read,
                }
            }
        }
        Ok(sets.set_bytes())
    }
}

/// In the process since an earlier request, and read again only where stat tells
/// that the file is another or has changed.
struct Cached {
    kept: Vec<Vec<Kept>>,
}

struct Kept {
    stamp: Stamp,
    contents: Vec<u8>,
}

/// What tells one state of a file from another.
#[derive(PartialEq, Eq)]
struct Stamp {
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            bytes: stat.st_size as u64,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
        }
    }
}

impl Kept {
    fn read(sets: &Sets, file: &PageFile) -> Result<Self, StudyError> {
        let open = open_for_reading(&sets.folder, &file.path).doing(OPENING)?;
        let stamp = Stamp::of(&fstat(open.as_fd()).doing(SIZING)?);
        let mut contents = vec![0; stamp.bytes as usize];
        read_whole(open, &mut contents, READING)?;
        Ok(Self { stamp, contents })
    }
}

impl Cached {
    fn read(sets: &Sets) -> Result<Self, StudyError> {
        let read = |file: &PageFile| Kept::read(sets, file);
        let kept = (0..sets.count()).map(|set| sets.files(set).iter().map(read).collect());
        Ok(Self { kept: kept.collect::<Result<_, StudyError>>()? })
    }
}

impl Reader for Cached {
    fn page(&mut self, sets: &Sets, set: usize) -> Result<u64, StudyError> {
        let mut read_bytes = 0;
        for (kept, file) in self.kept[set].iter_mut().zip(sets.files(set)) {
            let now = statat(&sets.folder, &file.path, AtFlags::SYMLINK_NOFOLLOW).doing(SIZING)?;
            if Stamp::of(&now) != kept.stamp {
                *kept = Kept::read(sets, file)?;
                read_bytes += kept.stamp.bytes;
            }
            black_box(&kept.contents);
        }
        Ok(read_bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::super::sets::Parts;
    use super::*;
    use crate::testing;

    #[test]
    fn a_changed_file_is_read_again_and_no_other() {
        let folder = testing::in_memory();
        let mut sets =
            Sets::new(fs::File::open(folder.path()).unwrap().into(), Parts::Made(vec![10, 20]));
        sets.make(1).unwrap();
        let mut cached = Cached::read(&sets).unwrap();
        let before = cached.kept[0][1].contents.as_ptr();

        fs::write(folder.path().join("page0-part0"), "changed").unwrap();
        assert_eq!(cached.page(&sets, 0).unwrap(), 7);
        assert_eq!(cached.page(&sets, 0).unwrap(), 0);
        assert_eq!(cached.kept[0][0].contents, b"changed");
        assert_eq!(cached.kept[0][1].contents.as_ptr(), before);
    }
}
