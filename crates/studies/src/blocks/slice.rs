//! A slice: blocks have their turns, and those that were written are read back.

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use engine::slice_timer::SliceTimer;
use engine::study::{Doing as _, Ran, Ready, StudyError};
use host::process::storage_read_bytes;
use model::slice::Outcome;
use process::StopFlag;
use rustix::fs::fdatasync;

use super::buffers::Buffers;
use super::common::Kept;
use super::config::Config;
use super::queue::Queue;
use super::store::open;
use super::turns::Slice;
use super::{Arm, spec};
use crate::figures_of;

/// How long a device is read from before the clock starts. One that has rested answers later, a
/// virtual one up to twice as late, and it takes some 10 ms until it does not.
const LEAD_IN: Duration = Duration::from_millis(20);

/// Blocks that are about to have their turns.
pub(super) struct Waiting<'a> {
    /// Before the buffers that it reads into, for it is done with them when it is dropped.
    queue: Option<Queue>,
    slice: Slice<'a>,
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

impl<'a> Waiting<'a> {
    /// The file of blocks is made in the folder where it is not there.
    pub(super) fn new(
        arm: &'a mut Arm,
        folder: OwnedFd,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Self, StudyError> {
        let Arm { config, store, common, slices, next } = arm;
        let config: &Config = config;
        let stop = timer.stop_flag();
        let queue = config.strategy.is_queued().then(|| Queue::new(config.depth)).transpose()?;
        if store.is_none() {
            let new = if common.is_some() { Kept::common } else { Kept::make };
            let made = new(folder, config, stop)?;
            if made.store().is_found {
                // What a worker before this one wrote there is told from what this one writes.
                *slices = rand::random_range(0..u32::MAX / 2);
            }
            *store = Some(made);
        }
        let Some(kept) = store else { unreachable!("made above") };
        let store = kept.store();
        let file = open(kept.folder.as_fd(), config)?;
        let resident_percent = store.bring_to(&file, config, stop)?;
        *slices += 1;
        let turns = config.turns(operations, *slices, *next);
        *next = turns.last().map_or(0, |turn| config.share.own(turn.block) + 1);
        let into = if config.reads() { config.depth } else { 0 };
        let read = Buffers::new(into, config.size, 1);
        let slice = Slice { config, file, store, turns, read, generation: *slices, misread: 0 };
        let mut waiting = Waiting { queue, slice, resident_percent, storage_read_before: None };
        if common.is_some() && config.strategy.is_direct() {
            waiting.lead_in(timer)?;
        }
        waiting.storage_read_before = storage_read_bytes();
        Ok(waiting)
    }

    /// Reads any blocks for a while, untimed, so that the device is at work when the clock starts, as
    /// under a program that reads without a pause.
    fn lead_in(&mut self, timer: &SliceTimer) -> Result<(), StudyError> {
        let mut untimed = SliceTimer::new(timer.clock().clone(), timer.stop_flag().clone());
        let (began, config) = (Instant::now(), self.slice.config);
        let own = std::mem::take(&mut self.slice.turns);
        // Latencies from 0 on would be as long as the machine is up, and their sum may not fit.
        untimed.start();
        while began.elapsed() < LEAD_IN {
            self.slice.turns = config.turns(4 * config.depth as u64, rand::random(), 0);
            self.have_turns(&mut untimed)?;
        }
        self.slice.turns = own;
        Ok(())
    }

    fn have_turns(&mut self, timer: &mut SliceTimer) -> Result<(), StudyError> {
        match &mut self.queue {
            Some(queue) => queue.run(&mut self.slice, timer),
            None => self.slice.one_by_one(timer),
        }
    }
}

impl<'a> Ready<'a> for Waiting<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let mut waiting = *self;
        let began = timer.last_ticks();
        waiting.have_turns(timer)?;
        let seconds = timer.clock().between(began, timer.last_ticks()).as_secs_f64();
        let blocks = waiting.slice.turns.len() as u64;
        timer.requested(blocks * waiting.slice.config.size as u64);
        let stop = timer.stop_flag().clone();
        Ok(Box::new(Done { waiting, seconds, stop, storage_read_bytes: None }))
    }
}

impl Ran for Done<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        let read = self.waiting.storage_read_before.zip(storage_read_bytes());
        self.storage_read_bytes = read.map(|(before, after)| after.saturating_sub(before));
        fdatasync(&self.waiting.slice.file).doing("forcing blocks to the device")
    }

    fn finish(self: Box<Self>) -> Result<Outcome, StudyError> {
        let Self { waiting, seconds, stop, storage_read_bytes } = *self;
        let Waiting { mut slice, resident_percent, .. } = waiting;
        let blocks = slice.turns.len() as f64;
        let reads = slice.turns.iter().filter(|turn| turn.reads).count();
        let asked_bytes = (reads * slice.config.size) as f64;
        let from_storage = storage_read_bytes
            .filter(|_| reads > 0)
            .map(|bytes| (spec::FROM_STORAGE, bytes as f64 * 100.0 / asked_bytes));
        let figures = [(spec::IOPS, blocks / seconds), (spec::RESIDENT, resident_percent)];
        let figures = figures_of(figures.into_iter().chain(from_storage));
        let written = slice.turns.iter().filter(|turn| !turn.reads).map(|turn| turn.block);
        let mut integrity = slice.store.examine(&slice.file, written, &stop)?;
        integrity.records += reads as u64;
        integrity.overwritten += slice.misread;
        Ok(Outcome { figures, integrity: Some(integrity), ..Outcome::default() })
    }
}
