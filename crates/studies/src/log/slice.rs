//! A slice of the study: who writes, and what is made of it afterwards.
//!
//! A single native writer works in this very process, with no pipe or second
//! clock between it and the recorder. Several, and interpreters, are workers.
//! With several writers the toll is what one of them sees: the sum of their
//! times over all records. It can be held against a single writer's; what all
//! of them get done together stands beside it as `records_per_s`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Instant;

use engine::recorder::{Recorder, WorkersAre};
use engine::study::{Doing, Prepared, Ran, Ready, StudyError};
use host::clock::Clock;
use model::slice::Outcome;
use process::StopFlag;
use process::worker::{
    Assignment, Program, RunningGroup, Started, WorkerGroup, WorkerKind, WorkerPool,
};
use rustix::fs::{Mode, OFlags, fdatasync, fstat, openat};

use super::append::{OPENING, SYNCING, log_name};
use super::config::Config;
use super::figures::{Done, figures};
use super::records::Records;
use super::spec::{Strategy, WriterKind};
use super::verify::{Expected, account};
use super::work::Work;
use super::writer::{self, Writer};
use super::{crash, per_writer};
use crate::file::open_for_writing;
use crate::{figures_of, workers};

/// What a slice is told, before its number of records is known.
pub(super) struct Slice<'a> {
    pub(super) config: &'a Config,
    pub(super) pool: &'a WorkerPool,
    /// The first writer's work.
    pub(super) work: Work,
    pub(super) folder: OwnedFd,
}

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
    writers: Vec<Done>,
    /// The longest that any waited for a record.
    longest_ns: f64,
    clock: Clock,
    stop: StopFlag,
}

impl<'a> Slice<'a> {
    pub(super) fn new(
        config: &'a Config,
        pool: &'a WorkerPool,
        folder: BorrowedFd<'_>,
    ) -> Result<Self, StudyError> {
        let folder = folder.try_clone_to_owned().doing("keeping the folder open")?;
        let work = Work::new(config);
        // There is a log to read back, whatever the writers come to.
        open_for_writing(&folder, &log_name(&work.stem), OFlags::APPEND)
            .doing("making the log file")?;
        Ok(Self { config, pool, work, folder })
    }

    pub(super) fn is_per_writer(&self) -> bool {
        self.config.strategy == Strategy::PerWriter
    }

    /// Who writes in the place of this thread; nobody where it writes by itself.
    fn workers(&self) -> Option<(WorkerKind, WorkersAre)> {
        if let Some(interpreter) = self.config.strategy.interpreter() {
            return Some((WorkerKind::Processes(interpreter), WorkersAre::Processes));
        }
        match (self.config.writers, self.config.kind) {
            (1, _) => None,
            (_, WriterKind::Threads) => {
                Some((WorkerKind::Threads(writer::do_assignment), WorkersAre::Threads))
            }
            (_, WriterKind::Processes) => {
                Some((WorkerKind::Processes(Program::OURSELVES), WorkersAre::Processes))
            }
        }
    }

    /// An assignment for each writer, and what must be kept open until they are done.
    pub(super) fn assignments(
        &self,
        kind: WorkerKind,
        work: &Work,
    ) -> Result<(Vec<Assignment>, Vec<OwnedFd>), StudyError> {
        let mut kept = Vec::new();
        let writers = self.config.writers;
        let assignments = (0..writers as u32)
            .map(|number| {
                let mut work = work.of_writer(number, writers);
                work.folder = kind.path_to_folder(&self.folder);
                if self.config.strategy.interpreter().is_some() {
                    // They do not make their records themselves.
                    let file = records_file(&work).doing("making a writer's records")?;
                    work.records_file = Some(kind.path_to(&file));
                    kept.push(file);
                }
                let work = serde_json::to_value(&work).map_err(io::Error::from);
                let work = work.doing("writing down a writer's work")?;
                Ok(Assignment { study: "log".to_owned(), work })
            })
            .collect::<Result<_, StudyError>>()?;
        Ok((assignments, kept))
    }

    fn log_size(&self) -> io::Result<u64> {
        Ok(fstat(self.open_log()?)?.st_size as u64)
    }

    fn open_log(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = log_name(&self.work.stem);
        Ok(openat(&self.folder, &name, flags, Mode::empty())?.into())
    }

    /// With the latencies of its writers in the recorder.
    fn written(
        self,
        alone: Option<Box<Writer>>,
        writers: Vec<Done>,
        recorder: &Recorder,
    ) -> Written<'a> {
        Written {
            slice: self,
            alone,
            writers,
            longest_ns: recorder.latencies().max() as f64 * recorder.clock().tick_ns(),
            clock: recorder.clock().clone(),
            stop: StopFlag::clone(recorder.stop_flag()),
        }
    }
}

/// A writer's records in a file that exists in memory alone.
fn records_file(work: &Work) -> io::Result<OwnedFd> {
    use std::io::Write as _;
    let records = Records::make(work.format(), work.writer, work.records);
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::memfd_create("iotoll-records", flags)?);
    file.write_all(records.bytes())?;
    Ok(file.into())
}

impl Prepared for Slice<'_> {
    fn ready<'a>(
        mut self: Box<Self>,
        operations: u64,
        recorder: &Recorder,
    ) -> Result<Box<dyn Ready + 'a>, StudyError>
    where
        Self: 'a,
    {
        self.work.records = operations / self.config.writers;
        let Some((kind, are)) = self.workers() else {
            let writer = Box::new(Writer::ready(self.work.clone(), &self.folder)?);
            return Ok(Box::new(Alone { slice: *self, writer }));
        };
        let (assignments, kept) = self.assignments(kind, &self.work)?;
        let (clock, stop) = (recorder.clock(), recorder.stop_flag());
        let workers = WorkerGroup::ready(kind, &assignments, self.pool, clock, stop)?;
        Ok(Box::new(Together { slice: *self, workers, are, kept }))
    }
}

impl Ready for Alone<'_> {
    fn run<'a>(self: Box<Self>, recorder: &mut Recorder) -> Result<Box<dyn Ran + 'a>, StudyError>
    where
        Self: 'a,
    {
        let Self { slice, mut writer } = *self;
        let done = writer.write(Started::now(), recorder, None)?;
        recorder.finish();
        let done = Done { elapsed_ns: recorder.elapsed_ns(), ..done };
        Ok(Box::new(slice.written(Some(writer), vec![done], recorder)))
    }
}

impl Ready for Together<'_> {
    fn run<'a>(self: Box<Self>, recorder: &mut Recorder) -> Result<Box<dyn Ran + 'a>, StudyError>
    where
        Self: 'a,
    {
        let Self { slice, workers, are, kept } = *self;
        let reports = workers.start().and_then(RunningGroup::reports);
        recorder.check_stop()?;
        let reports = reports?;
        drop(kept);
        workers::absorb(are, &reports, recorder);
        let writers = reports.iter().map(Done::of_worker).collect();
        Ok(Box::new(slice.written(None, writers, recorder)))
    }
}

impl Written<'_> {
    fn acknowledged(&self) -> Vec<u64> {
        self.writers.iter().map(|writer| writer.acknowledged).collect()
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
        if let Some(mut writer) = self.alone.take() {
            writer.leave()?;
        }
        let mut figures = figures(&self.writers, self.longest_ns);
        if self.slice.is_per_writer() {
            figures.push(("merge_ns_per_record", self.merge()?));
        }
        let size = self.slice.log_size().doing("looking at the log")?;
        figures.push(("bytes_per_record", size as f64));
        let expected: Vec<Expected> = self.acknowledged().into_iter().map(Expected::all).collect();
        let log = self.slice.open_log().doing(OPENING)?;
        let account = account(log, self.slice.work.format(), &expected);
        let account = account.doing("reading the log back")?;
        if self.slice.config.kills > 0 {
            figures.extend(crash::trials(&self.slice, &self.clock, &self.stop)?);
        }
        Ok(Outcome {
            integrity: Some(account.integrity),
            figures: figures_of(figures),
            ..Outcome::default()
        })
    }
}
