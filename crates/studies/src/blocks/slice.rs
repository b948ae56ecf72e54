//! A slice: blocks have their turns, and those that were written are read back.

use engine::recorder::Recorder;
use engine::study::{Doing as _, Prepared, Ran, Ready, StudyError};
use host::process::storage_read_bytes;
use model::slice::Outcome;
use process::StopFlag;
use rustix::fs::fdatasync;
use rustix::io::{pread, pwrite};

use super::buffers::{Buffers, Mark};
use super::queue::Queue;
use super::store::{Store, whole};
use super::{Config, Turn, spec};
use crate::figures_of;

pub(super) const READING: &str = "reading a block";
pub(super) const WRITING: &str = "writing a block";

/// A file of blocks that is there.
pub(super) struct Kept<'a> {
    config: &'a Config,
    store: &'a mut Store,
}

/// Blocks, and what they are read into.
pub(super) struct Slice<'a> {
    pub(super) config: &'a Config,
    pub(super) store: &'a mut Store,
    pub(super) turns: Vec<Turn>,
    /// One for each block that is under way.
    pub(super) read: Buffers,
    /// Blocks in whose place another stood when they were read.
    pub(super) misread: u64,
}

/// Blocks that are about to have their turns.
struct Waiting<'a> {
    slice: Slice<'a>,
    queue: Option<Queue>,
    resident_percent: f64,
    storage_read_before: Option<u64>,
}

/// Blocks that had them. What they needed is kept until the clock has stopped.
struct Done<'a> {
    waiting: Waiting<'a>,
    seconds: f64,
    stop: StopFlag,
    /// What storage read meanwhile.
    storage_read_bytes: Option<u64>,
}

impl<'a> Kept<'a> {
    pub(super) fn new(config: &'a Config, store: &'a mut Store) -> Self {
        Self { config, store }
    }
}

impl Prepared for Kept<'_> {
    fn ready<'a>(
        self: Box<Self>,
        operations: u64,
        _recorder: &Recorder,
    ) -> Result<Box<dyn Ready + 'a>, StudyError>
    where
        Self: 'a,
    {
        let Self { config, store } = *self;
        let queue = config.strategy.is_queued().then(|| Queue::new(config.depth)).transpose()?;
        let resident_percent = store.bring_to(config.cache, config)?;
        store.generation += 1;
        let slice = Slice {
            config,
            turns: config.turns(operations, store.generation),
            store,
            read: Buffers::new(config.depth, config.size, 1),
            misread: 0,
        };
        let storage_read_before = storage_read_bytes();
        Ok(Box::new(Waiting { slice, queue, resident_percent, storage_read_before }))
    }
}

impl Slice<'_> {
    /// Where a block is in the file.
    pub(super) fn offset(&self, block: u64) -> u64 {
        block * self.config.size as u64
    }

    /// What is to be written to a block: a mark that it did not have before, in a buffer
    /// that is not under way.
    #[inline]
    pub(super) fn fill(&mut self, block: u64, buffer: usize) -> &[u8] {
        let generation = self.store.generation;
        let mark = Mark { block, generation, buffer: buffer as u32 };
        self.store.marks[block as usize] = mark;
        self.store.buffers.mark(mark)
    }

    /// Looks whether what was read is the block that was asked for.
    #[inline]
    pub(super) fn look(&mut self, block: u64, buffer: usize) {
        self.misread += u64::from(Mark::of(self.read.get(buffer)).block != block);
    }

    fn one_by_one(&mut self, recorder: &mut Recorder) -> Result<(), StudyError> {
        let (size, buffers) = (self.config.size, self.store.buffers.count());
        let mut buffer = 0;
        for turn in 0..self.turns.len() {
            let Turn { block, reads } = self.turns[turn];
            let offset = self.offset(block);
            if reads {
                let file = &self.store.file;
                whole(pread(file, self.read.get_mut(0), offset), size, READING)?;
                self.look(block, 0);
            } else {
                self.fill(block, buffer);
                let Store { file, buffers: filled, .. } = &*self.store;
                whole(pwrite(file, filled.get(buffer), offset), size, WRITING)?;
                buffer = if buffer + 1 == buffers { 0 } else { buffer + 1 };
            }
            recorder.lap();
            recorder.check_stop()?;
        }
        Ok(())
    }
}

impl Ready for Waiting<'_> {
    fn run<'a>(self: Box<Self>, recorder: &mut Recorder) -> Result<Box<dyn Ran + 'a>, StudyError>
    where
        Self: 'a,
    {
        let mut waiting = *self;
        let began = recorder.last_ticks();
        match &mut waiting.queue {
            Some(queue) => queue.run(&mut waiting.slice, recorder)?,
            None => waiting.slice.one_by_one(recorder)?,
        }
        let seconds = recorder.clock().between(began, recorder.last_ticks()).as_secs_f64();
        let operations = waiting.slice.turns.len() as u64;
        recorder.requested(operations * waiting.slice.config.size as u64);
        let stop = recorder.stop_flag().clone();
        Ok(Box::new(Done { waiting, seconds, stop, storage_read_bytes: None }))
    }
}

impl Ran for Done<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        let read = self.waiting.storage_read_before.zip(storage_read_bytes());
        self.storage_read_bytes = read.map(|(before, after)| after.saturating_sub(before));
        fdatasync(&self.waiting.slice.store.file).doing("forcing blocks to the device")
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { waiting, seconds, stop, storage_read_bytes } = *self;
        let Waiting { slice, resident_percent, .. } = waiting;
        let blocks = slice.turns.len() as f64;
        let reads = slice.turns.iter().filter(|turn| turn.reads).count();
        let asked_bytes = (reads * slice.config.size) as f64;
        let from_storage = storage_read_bytes
            .filter(|_| reads > 0)
            .map(|bytes| (spec::FROM_STORAGE, bytes as f64 * 100.0 / asked_bytes));
        let figures = [(spec::IOPS, blocks / seconds), (spec::RESIDENT, resident_percent)];
        let figures = figures_of(figures.into_iter().chain(from_storage));
        let written = slice.turns.iter().filter(|turn| !turn.reads).map(|turn| turn.block);
        let mut integrity = slice.store.examine(written, &stop)?;
        integrity.records += reads as u64;
        integrity.overwritten += slice.misread;
        Ok(Outcome { figures, integrity: Some(integrity), ..Outcome::default() })
    }
}
