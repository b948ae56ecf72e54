//! One writer at work, wherever it runs: the loop under the clock.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use host::probes::WorkerProbe;
use host::root::Root;
use model::counters::Counters as _;
use model::spent::Spent;
use process::StopFlag;
use process::worker::{Assignment, Report, Session, Started};

use super::acks::Acks;
use super::make::make;
use super::records::Records;
use super::round::{AppendAll, Round};
use super::sleeping::SleepingThreads;
use super::work::Work;
use crate::workers;

/// A writer that has everything ready.
pub(crate) struct Writer {
    work: Work,
    records: Arc<Records>,
    append: Box<dyn AppendAll>,
    _sleeping: SleepingThreads,
}

impl Writer {
    /// Makes the records and opens what the strategy keeps open.
    pub(crate) fn ready(work: Work, folder: &OwnedFd) -> Result<Self, StudyError> {
        let records = Arc::new(Records::make(work.format(), work.writer, work.records));
        let append = make(&work, folder, &records)?;
        let sleeping = SleepingThreads::start(work.threads - 1).doing("starting a thread")?;
        Ok(Self { work, records, append, _sleeping: sleeping })
    }

    /// Writes all records under the clock.
    pub(super) fn write(
        &mut self,
        start: Started,
        timer: &mut SliceTimer,
        acks: Option<&AtomicU64>,
    ) -> Result<Report, StudyError> {
        let started_after_ns = start.elapsed_ns();
        let mut round = Round::new(&self.work, timer);
        let acknowledged = self.append.append_all(&mut round, timer, acks)?;
        self.append.finish(timer)?;
        let ended_after_ns = start.elapsed_ns();
        timer.requested(self.bytes_of(acknowledged));
        let figures = self.figures(acknowledged, &round, timer);
        Ok(Report { acknowledged, started_after_ns, ended_after_ns, figures, ..Report::default() })
    }

    /// Leaves beside the log what is needed afterwards, outside the clock.
    pub(crate) fn leave(&mut self) -> Result<(), StudyError> {
        self.append.leave()
    }

    /// What it was to write.
    pub(super) fn records(&self) -> &Records {
        &self.records
    }

    fn bytes_of(&self, acknowledged: u64) -> u64 {
        if acknowledged == self.work.records {
            return self.records.bytes().len() as u64;
        }
        (0..acknowledged as usize).map(|index| self.records.get(index).len() as u64).sum()
    }

    fn figures(
        &self,
        acknowledged: u64,
        round: &Round,
        timer: &SliceTimer,
    ) -> BTreeMap<String, f64> {
        let fixed = self.append.calls_per_record() * acknowledged as f64;
        let calls = self.append.calls().map_or(fixed, |calls| calls as f64);
        let mut figures = BTreeMap::from([
            ("calls".to_owned(), calls),
            ("lock_ns".to_owned(), timer.spent(Spent::default()).lock_ns as f64),
            ("dropped".to_owned(), (self.work.records - acknowledged) as f64),
        ]);
        if round.service.count() > 0 {
            let tick_ns = timer.clock().tick_ns();
            let p99_ns = round.service.quantile(0.99) * tick_ns;
            figures.insert("service_mean_ns".to_owned(), round.service.mean() * tick_ns);
            figures.insert("service_p99_ns".to_owned(), p99_ns);
        }
        figures
    }
}

/// A worker's part of a slice, in a thread or a process of its own.
pub(crate) fn do_assignment(
    assignment: &Assignment,
    session: Session<'_>,
) -> Result<Report, String> {
    work_in_its_folder(assignment, session).map_err(|error| error.to_string())
}

fn work_in_its_folder(assignment: &Assignment, session: Session<'_>) -> Result<Report, StudyError> {
    let work: Work = assignment.read().map_err(StudyError::Worker)?;
    let folder = File::open(&work.folder).map(OwnedFd::from).doing("opening the slice's folder")?;
    let acks = work.acks.as_deref().map(Acks::open).transpose();
    let acks = acks.doing("opening the counters of acknowledged records")?;
    let number = work.writer;
    let mut timer = SliceTimer::new(session.clock.clone(), StopFlag::clone(session.stop));
    let mut writer = Writer::ready(work, &folder)?;
    let probe = WorkerProbe::open(&Root::real(), &[], &mut Vec::new());
    let start = session.start().doing("waiting for the start")?;
    let before = probe.before();
    timer.start();
    let done = writer.write(start, &mut timer, acks.as_ref().map(|acks| acks.of(number)));
    timer.finish();
    let used = probe.after().since(before);
    let done = done?;
    writer.leave()?;
    Ok(workers::with_latencies(Report { spent: timer.spent(used), ..done }, &timer))
}
