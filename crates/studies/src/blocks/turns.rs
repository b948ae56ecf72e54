//! Blocks that have their turns: what is written to each, and whether the right one was read.

use std::cell::RefMut;
use std::os::fd::OwnedFd;

use engine::slice_timer::SliceTimer;
use engine::study::StudyError;
use rustix::io::{pread, pwrite};

use super::buffers::{Buffers, Version, is_block};
use super::config::{Config, Turn};
use super::store::{Store, read_whole, wrote_whole};

pub(super) const READING: &str = "reading a block";
pub(super) const WRITING: &str = "writing a block";

/// Blocks, and what they are read into.
pub(super) struct Slice<'a> {
    pub(super) config: &'a Config,
    /// As the arm's strategy opens it.
    pub(super) file: OwnedFd,
    pub(super) store: RefMut<'a, Store>,
    pub(super) turns: Vec<Turn>,
    /// One for each block that is under way.
    pub(super) read: Buffers,
    /// What is written now is told by this from what was written before.
    pub(super) generation: u32,
    /// Reads that brought something else than the block that was asked for.
    pub(super) misread: u64,
}

impl Slice<'_> {
    /// What is to be written to a block, in a buffer that is not under way.
    #[inline]
    pub(super) fn fill(&mut self, block: u64, buffer: usize) -> &[u8] {
        self.store.fill(block, Version { generation: self.generation, buffer: buffer as u32 })
    }

    /// Looks whether what was read is the block that was asked for.
    #[inline]
    pub(super) fn look(&mut self, block: u64, buffer: usize) {
        self.misread += u64::from(!is_block(self.read.get(buffer), block));
    }

    /// One block after the other.
    pub(super) fn one_by_one(&mut self, timer: &mut SliceTimer) -> Result<(), StudyError> {
        let (size, is_synced) = (self.config.size, self.config.is_synced());
        let buffers = self.store.buffers.count();
        let mut buffer = 0;
        for turn in 0..self.turns.len() {
            let Turn { block, reads } = self.turns[turn];
            let offset = self.config.offset(block);
            if reads {
                let moved = pread(&self.file, self.read.get_mut(0), offset);
                read_whole(moved, size, READING)?;
                self.look(block, 0);
            } else {
                self.fill(block, buffer);
                let (file, filled) = (&self.file, self.store.buffers.get(buffer));
                let write = || pwrite(file, filled, offset);
                let written = if is_synced { timer.sync(write) } else { write() };
                wrote_whole(written, size, WRITING)?;
                buffer = if buffer + 1 == buffers { 0 } else { buffer + 1 };
            }
            timer.lap();
            timer.check_stop()?;
        }
        Ok(())
    }
}
