//! A slice's way from folder to outcome: prepared, ready, written, accounted for.

use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Instant;

use engine::slice_timer::{SliceTimer, WorkersAre};
use engine::study::{Doing, Ran, Ready, StudyError};
use host::clock::Clock;
use model::integrity::Integrity;
use model::slice::Outcome;
use process::StopFlag;
use process::worker::{Report, RunningGroup, Started, WorkerGroup};
use rustix::fs::fdatasync;

use super::append::{OPENING, SYNCING};
use super::figures::figures;
use super::slice::Slice;
use super::verify::{Expected, account};
use super::writer::Writer;
use super::{crash, per_writer};
use crate::read_back::is_just;
use crate::{figures_of, workers};

/// A writer of this process that has everything ready.
struct Alone<'a> {
    slice: Slice<'a>,
    writer: Box<Writer>,
}

/// Workers that have everything ready.
struct Together<'a> {
    slice: Slice<'a>,
    workers: WorkerGroup,
    are: WorkersAre,
    /// What must stay open until they are done.
    kept: Vec<OwnedFd>,
}

/// A log that was written.
struct Written<'a> {
    slice: Slice<'a>,
    /// The writer of this process, if it was one.
    alone: Option<Box<Writer>>,
    writers: Vec<Report>,
    /// The longest that any waited for a record.
    longest_ns: f64,
    clock: Clock,
    stop: StopFlag,
}

impl<'a> Slice<'a> {
    /// With a writer that has everything ready, or several.
    pub(super) fn ready(
        mut self,
        operations: u64,
        timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        self.work.records = operations / self.config.writers;
        let Some(crew) = self.crew.take() else {
            let writer = Box::new(Writer::ready(self.work.clone(), &self.folder)?);
            return Ok(Box::new(Alone { slice: self, writer }));
        };
        let (assignments, kept) = self.assignments(&crew, &self.work)?;
        let workers = crew.ready(&assignments, self.pool, timer)?;
        Ok(Box::new(Together { slice: self, workers, are: crew.are(), kept }))
    }
}

impl<'a> Ready<'a> for Alone<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { slice, mut writer } = *self;
        let mut done = writer.write(Started::now(), timer, None)?;
        timer.finish();
        done.spent.elapsed_ns = timer.elapsed_ns();
        Ok(Box::new(Written::new(slice, Some(writer), vec![done], timer)))
    }
}

impl<'a> Ready<'a> for Together<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { slice, workers, are, kept } = *self;
        let reports = workers.start().and_then(RunningGroup::reports);
        timer.check_stop()?;
        let reports = reports?;
        drop(kept);
        workers::absorb(are, &reports, timer);
        Ok(Box::new(Written::new(slice, None, reports, timer)))
    }
}

impl<'a> Written<'a> {
    /// With the latencies of the writers in the recorder.
    fn new(
        slice: Slice<'a>,
        alone: Option<Box<Writer>>,
        writers: Vec<Report>,
        timer: &SliceTimer,
    ) -> Self {
        Self {
            slice,
            alone,
            writers,
            longest_ns: timer.latencies().max() as f64 * timer.clock().tick_ns(),
            clock: timer.clock().clone(),
            stop: StopFlag::clone(timer.stop_flag()),
        }
    }
}

impl Written<'_> {
    fn acknowledged(&self) -> Vec<u64> {
        self.writers.iter().map(|writer| writer.acknowledged).collect()
    }

    /// What became of the records. Each is looked at where the log is not just what the writer of
    /// this process wrote.
    fn read_back(&self, alone: Option<&Writer>) -> Result<Integrity, StudyError> {
        const READING: &str = "reading the log back";
        let open = || self.slice.open_log().doing(OPENING);
        let (format, records) = (self.slice.work.format(), self.slice.work.records);
        if let Some(writer) = alone
            && self.acknowledged() == [records]
            && is_just(open()?, writer.records().bytes()).doing(READING)?
        {
            let checks = format.checks();
            return Ok(Integrity { records, checks, ..Integrity::default() });
        }
        let expected: Vec<Expected> = self.acknowledged().into_iter().map(Expected::all).collect();
        Ok(account(open()?, format, &expected).doing(READING)?.integrity)
    }

    /// Makes one log of the writers' own; how long that took, in nanoseconds.
    fn merge(&self) -> Result<f64, StudyError> {
        let began = Instant::now();
        let Slice { folder, work, .. } = &self.slice;
        per_writer::merge(folder.as_fd(), &work.stem, work.format(), &self.acknowledged())?;
        Ok(began.elapsed().as_nanos() as f64)
    }
}

impl Ran for Written<'_> {
    fn flush(&mut self) -> Result<(), StudyError> {
        let Slice { folder, work, config, .. } = &self.slice;
        if self.slice.is_per_writer() {
            let logs = per_writer::logs(folder.as_fd(), &work.stem, config.writers as u32)?;
            return logs.iter().try_for_each(|log| fdatasync(log).doing(SYNCING));
        }
        fdatasync(&self.slice.open_log().doing(OPENING)?).doing(SYNCING)
    }

    fn finish(mut self: Box<Self>) -> Result<Outcome, StudyError> {
        let mut alone = self.alone.take();
        if let Some(writer) = &mut alone {
            writer.leave()?;
        }
        self.slice.check_standing()?;
        let mut figures = figures(&self.writers, self.longest_ns);
        if self.slice.is_per_writer() {
            figures.push(("merge_ns_per_record", self.merge()?));
        }
        let size = self.slice.log_size().doing("looking at the log")?;
        figures.push(("bytes_per_record", size as f64));
        let integrity = self.read_back(alone.as_deref())?;
        drop(alone);
        if self.slice.config.kills > 0 {
            figures.extend(crash::trials(&self.slice, &self.clock, &self.stop)?);
        }
        Ok(Outcome {
            integrity: Some(integrity),
            figures: figures_of(figures),
            ..Outcome::default()
        })
    }
}
