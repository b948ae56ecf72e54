//! The file that an arm's blocks are in: made in full, brought into memory or out of it,
//! and held against what was written.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;

use engine::study::{Doing, StudyError};
use host::page_cache::{evict, lives_in_memory, resident_bytes};
use model::integrity::Integrity;
use process::StopFlag;
use rustix::fs::{Advice, Mode, OFlags, fadvise, fdatasync, openat};
use rustix::io::{Errno, pread, pwrite};
use units::exact_size;

use super::buffers::{BlockState, Buffers, Mark, Version};
use super::config::Config;
use super::share::Share;
use super::spec::Order;
use crate::drop_cache::{Cache, LEFT_PERCENT_MAX};
use crate::file::{open_for_reading, open_for_writing};

const NAME: &CStr = c"blocks.bin";
const MAKING: &str = "writing the file of blocks";
const OPENING: &str = "opening the file of blocks";
const WARMING: &str = "reading the file of blocks into memory";
const EVICTING: &str = "evicting the file of blocks from memory";
const CHECKING: &str = "checking a block";

/// A file of blocks, and what was last written to each.
pub(super) struct Store {
    /// Of which each block says which one filled it.
    pub(super) buffers: Buffers,
    /// Of those that are this client's.
    versions: Vec<Version>,
    share: Share,
    /// Somebody else made it.
    pub(super) is_found: bool,
    in_memory: bool,
}

impl Store {
    /// Makes the file, every block of it, and brings it to the device. Each block is a
    /// write of its own, as in an application that works with blocks: memory that took
    /// in many at a time holds them in pages as large as it finds, and how large those
    /// are, of which it has other ones each time, decides what a later write takes. One that
    /// several clients have a part in is there already for all but the first.
    pub(super) fn make(
        folder: BorrowedFd<'_>,
        config: &Config,
        stop: &StopFlag,
    ) -> Result<Self, StudyError> {
        let mut buffers = Buffers::various(config.depth, config.size);
        let (share, together) = (config.share, buffers.count() as u64);
        let version = |block| Version { generation: 0, buffer: (block % together) as u32 };
        let is_found = match open_for_writing(folder, NAME, OFlags::EXCL) {
            Err(Errno::EXIST) if share.part().is_shared() => true,
            opened => {
                let file = opened.doing(MAKING)?;
                for block in 0..share.in_file() {
                    let bytes = buffers.mark(Mark::new(block, version(block)));
                    wrote_whole(pwrite(&file, bytes, config.offset(block)), config.size, MAKING)?;
                    check(stop)?;
                }
                fdatasync(&file).doing(MAKING)?;
                false
            }
        };
        let versions = (0..share.count()).map(|own| version(share.block(own))).collect();
        let in_memory = lives_in_memory(folder).doing(OPENING)?;
        Ok(Self { buffers, versions, share, is_found, in_memory })
    }

    /// Reads the file into memory, or evicts it. How much of it memory holds then, in
    /// percent.
    pub(super) fn bring_to(
        &self,
        file: &OwnedFd,
        config: &Config,
        stop: &StopFlag,
    ) -> Result<f64, StudyError> {
        let evicted = config.cache == Cache::Cold || config.strategy.is_direct();
        if evicted {
            evict(file).doing(EVICTING)?;
        } else if in_memory_bytes(file)? < config.file_bytes() {
            self.read_all(file, config, stop)?;
        }
        // What is read ahead is for reads in order; at random it would be in vain, and the
        // kernel is told what applications tell it that know.
        let advice = match config.order {
            Order::Random => Advice::Random,
            Order::Sequential => Advice::Sequential,
        };
        fadvise(file, 0, None, advice).doing(OPENING)?;
        let held = in_memory_bytes(file)?;
        let percent = (held as f64 * 100.0 / config.file_bytes() as f64).min(100.0);
        if evicted && percent > LEFT_PERCENT_MAX && !self.in_memory {
            return Err(StudyError::Unsuited(format!(
                "{percent:.0}% of the file was still in memory after eviction, so reads of the \
                 device cannot be timed here; check whether the file system keeps its files in \
                 memory, or use the strategy buffered with cache=warm only"
            )));
        }
        Ok(percent)
    }

    fn read_all(&self, file: &OwnedFd, config: &Config, stop: &StopFlag) -> Result<(), StudyError> {
        let (blocks, together) = (config.share.in_file(), self.buffers.count());
        let mut buffer = vec![0; together * config.size];
        for first in (0..blocks).step_by(together) {
            let wanted = (blocks - first).min(together as u64) as usize * config.size;
            let into = &mut buffer[..wanted];
            read_whole(pread(file, into, config.offset(first)), wanted, WARMING)?;
            check(stop)?;
        }
        Ok(())
    }

    /// What is to be written to a block: a mark that it did not have before, in a buffer
    /// that is not under way.
    #[inline]
    pub(super) fn fill(&mut self, block: u64, version: Version) -> &[u8] {
        self.versions[self.share.own(block) as usize] = version;
        self.buffers.mark(Mark::new(block, version))
    }

    /// What is left of each block in a file that was copied as a power failure leaves it,
    /// after a single slice.
    pub(super) fn left(
        &self,
        folder: BorrowedFd<'_>,
        config: &Config,
    ) -> Result<Vec<Left>, StudyError> {
        let file = open_for_reading(folder, NAME).doing(CHECKING)?;
        let (size, together) = (config.size, self.buffers.count() as u64);
        let mut written = Buffers::various(config.depth, size);
        let mut read = vec![0; size];
        let look = |block: u64| {
            read_whole(pread(&file, &mut read[..], config.offset(block)), size, CHECKING)?;
            let made = Version { generation: 0, buffer: (block % together) as u32 };
            let mut is = |version| read == *written.mark(Mark::new(block, version));
            Ok(match self.versions[self.share.own(block) as usize] {
                version if is(version) => Left::New,
                _ if is(made) => Left::Old,
                _ => Left::Neither,
            })
        };
        (0..config.share.in_file()).map(look).collect()
    }

    /// Holds blocks against what was last written to each.
    pub(super) fn examine(
        &mut self,
        file: &OwnedFd,
        blocks: impl IntoIterator<Item = u64>,
        stop: &StopFlag,
    ) -> Result<Integrity, StudyError> {
        let mut integrity = Integrity::default();
        let size = self.buffers.size();
        let mut read = Buffers::new(1, size, 0);
        for block in blocks {
            let offset = block * size as u64;
            read_whole(pread(file, read.get_mut(0), offset), size, CHECKING)?;
            integrity.records += 1;
            let version = self.versions[self.share.own(block) as usize];
            let written = Mark::new(block, version);
            match self.buffers.judge(read.get(0), written) {
                BlockState::Whole => {}
                BlockState::Older => integrity.lost += 1,
                BlockState::Torn => integrity.torn += 1,
                BlockState::Other => integrity.overwritten += 1,
            }
            check(stop)?;
        }
        Ok(integrity)
    }
}

/// What a power failure left of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// What was last written to it, as it is of a block that never was.
    New,
    /// What the file was made of.
    Old,
    Neither,
}

fn in_memory_bytes(file: &OwnedFd) -> Result<u64, StudyError> {
    resident_bytes(file).doing("asking how much of a file is in memory")
}

fn check(stop: &StopFlag) -> Result<(), StudyError> {
    if stop.load(Ordering::Relaxed) { Err(StudyError::Stopped) } else { Ok(()) }
}

/// All of what was to be read, or an error.
#[inline]
pub(super) fn read_whole(
    moved: Result<usize, Errno>,
    wanted: usize,
    doing: &'static str,
) -> Result<(), StudyError> {
    match moved {
        Ok(got) if got == wanted => Ok(()),
        Ok(got) => Err(StudyError::Ended { doing, got, wanted }),
        Err(error) => Err(error).doing(doing),
    }
}

/// All of what was to be written, or an error.
#[inline]
pub(super) fn wrote_whole(
    moved: Result<usize, Errno>,
    wanted: usize,
    doing: &'static str,
) -> Result<(), StudyError> {
    match moved {
        Ok(written) if written == wanted => Ok(()),
        Ok(written) => Err(StudyError::Short { doing, written, wanted }),
        Err(error) => Err(error).doing(doing),
    }
}

/// Opens the file as the strategy does, and sees whether it takes blocks of this size.
pub(super) fn open(folder: BorrowedFd<'_>, config: &Config) -> Result<OwnedFd, StudyError> {
    let is_direct = config.strategy.is_direct();
    let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    flags.set(OFlags::DIRECT, is_direct);
    flags.set(OFlags::DSYNC, config.is_synced());
    let file = match openat(folder, NAME, flags, Mode::empty()) {
        Err(Errno::INVAL) if is_direct => {
            return Err(StudyError::Unsuited(
                "this file system has no O_DIRECT (a tmpfs has it since Linux 6.6); time the \
                 strategies buffered and uring there"
                    .to_owned(),
            ));
        }
        opened => opened.doing(OPENING)?,
    };
    let mut buffer = Buffers::new(1, config.size, 0);
    match pread(&file, buffer.get_mut(0), 0) {
        Err(Errno::INVAL) if is_direct => {
            let size = exact_size(config.size as u64);
            Err(StudyError::Unsuited(format!(
                "O_DIRECT does not take blocks of {size} here, for the device has larger sectors; \
                 set blocks.size=4096, or time the strategies buffered and uring"
            )))
        }
        read => read_whole(read, config.size, OPENING).map(|()| file),
    }
}
