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

use super::Config;
use super::buffers::{Buffers, Found, Mark};
use super::spec::{Cache, Order};
use crate::file::open_for_writing;

const NAME: &CStr = c"blocks.bin";
const MAKING: &str = "writing the file of blocks";
const OPENING: &str = "opening the file of blocks";
const EVICTING: &str = "evicting the file of blocks from memory";
const CHECKING: &str = "checking a block";
/// More than this left in memory, and reads are not cold.
const LEFT_PERCENT_MAX: f64 = 2.0;

/// A file of blocks, and when each was last written.
pub(super) struct Store {
    /// As the arm's strategy opens it.
    pub(super) file: OwnedFd,
    /// Of which each block says which one filled it.
    pub(super) buffers: Buffers,
    /// The mark of each block.
    pub(super) marks: Vec<Mark>,
    /// Slices so far.
    pub(super) generation: u32,
    pub(super) in_memory: bool,
}

impl Store {
    /// Makes the file, every block of it, and brings it to the device.
    pub(super) fn make(folder: BorrowedFd<'_>, config: &Config) -> Result<Self, StudyError> {
        let file = open_for_writing(folder, NAME, OFlags::EXCL).doing(MAKING)?;
        let mut buffers = Buffers::various(config.depth, config.size);
        let various = buffers.count() as u64;
        let mark = |block| Mark { block, generation: 0, buffer: (block % various) as u32 };
        let marks: Vec<Mark> = (0..config.blocks()).map(mark).collect();
        for mark in &marks {
            let offset = mark.block * config.size as u64;
            whole(pwrite(&file, buffers.mark(*mark), offset), config.size, MAKING)?;
        }
        fdatasync(&file).doing(MAKING)?;
        drop(file);
        let in_memory = lives_in_memory(folder).doing(OPENING)?;
        Ok(Self { file: open(folder, config)?, buffers, marks, generation: 0, in_memory })
    }

    /// Reads the file into memory, or evicts it. How much of it memory holds then, in
    /// percent.
    pub(super) fn bring_to(&mut self, cache: Cache, config: &Config) -> Result<f64, StudyError> {
        let evicted = cache == Cache::Cold || config.strategy.is_direct();
        if evicted {
            evict(&self.file).doing(EVICTING)?;
        } else {
            let mut buffer = vec![0; config.size];
            for block in 0..config.blocks() {
                let offset = block * config.size as u64;
                whole(pread(&self.file, &mut buffer[..], offset), config.size, OPENING)?;
            }
        }
        // What is read ahead is for reads in order; at random it would be in vain, and the
        // kernel is told what applications tell it that know.
        let advice = match config.order {
            Order::Random => Advice::Random,
            Order::Sequential => Advice::Sequential,
        };
        fadvise(&self.file, 0, None, advice).doing(OPENING)?;
        let held = resident_bytes(&self.file).doing("asking how much of a file is in memory")?;
        let percent = (held as f64 * 100.0 / config.file_bytes as f64).min(100.0);
        if evicted && percent > LEFT_PERCENT_MAX && !self.in_memory {
            return Err(StudyError::Unsuited(format!(
                "{percent:.0}% of the file was still in memory after it had been evicted; see \
                 whether the file system keeps its files in memory, or time the strategy buffered \
                 with cache=warm alone"
            )));
        }
        Ok(percent)
    }

    /// Holds blocks against what was last written to each.
    pub(super) fn examine(
        &mut self,
        blocks: impl IntoIterator<Item = u64>,
        stop: &StopFlag,
    ) -> Result<Integrity, StudyError> {
        let mut integrity = Integrity::default();
        let size = self.buffers.get(0).len();
        let mut read = Buffers::new(1, size, 0);
        for block in blocks {
            let offset = block * size as u64;
            whole(pread(&self.file, read.get_mut(0), offset), size, CHECKING)?;
            integrity.records += 1;
            match self.buffers.judge(read.get(0), self.marks[block as usize]) {
                Found::Whole => {}
                Found::Older => integrity.lost += 1,
                Found::Torn => integrity.torn += 1,
                Found::Other => integrity.overwritten += 1,
            }
            if stop.load(Ordering::Relaxed) {
                return Err(StudyError::Stopped);
            }
        }
        Ok(integrity)
    }
}

/// All of a block, or an error.
#[inline]
pub(super) fn whole(
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

fn open(folder: BorrowedFd<'_>, config: &Config) -> Result<OwnedFd, StudyError> {
    let direct = if config.strategy.is_direct() { OFlags::DIRECT } else { OFlags::empty() };
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | direct;
    match openat(folder, NAME, flags, Mode::empty()) {
        Err(Errno::INVAL) if config.strategy.is_direct() => Err(StudyError::Unsuited(
            "this file system has no O_DIRECT; time the strategy buffered".to_owned(),
        )),
        opened => opened.doing(OPENING),
    }
}
