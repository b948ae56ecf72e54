//! One writer at work, wherever it runs: the loop under the clock.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::recorder::Recorder;
use engine::study::{Doing, StudyError};
use host::clock::Clock;
use host::probes::WorkerProbe;
use host::root::Root;
use model::counters::Counters as _;
use model::spent::Spent;
use process::StopFlag;
use process::worker::{Assignment, Report, Session, Started};
use rustix::fs::{CWD, Mode, OFlags, openat};
use stats::Histogram;

use super::acks::Acks;
use super::append::{self, Append, Taken};
use super::figures::Done;
use super::records::Records;
use super::work::Work;
use crate::workers;

/// Sleeping wakes late by this much at the most, ordinarily; the rest is spun.
const SPIN: Duration = Duration::from_micros(100);

/// A writer that has everything ready.
pub(crate) struct Writer {
    work: Work,
    records: Arc<Records>,
    append: Box<dyn Append>,
}

impl Writer {
    /// Makes the records and opens what the strategy keeps open.
    pub(crate) fn ready(work: Work, folder: &OwnedFd) -> Result<Self, StudyError> {
        let records = Arc::new(Records::make(work.format(), work.writer, work.records));
        let append = append::make(&work, folder, &records)?;
        Ok(Self { work, records, append })
    }

    /// Writes all records under the clock.
    pub(super) fn write(
        &mut self,
        start: Started,
        recorder: &mut Recorder,
        acks: Option<&AtomicU64>,
    ) -> Result<Done, StudyError> {
        let started_after_ns = start.elapsed_ns();
        let mut round = Round::new(&self.work, recorder);
        let acknowledged = if self.work.pace_ns > 0.0 {
            round.at_a_pace(self.append.as_mut(), recorder, acks)?
        } else {
            self.append.append_all(&mut round, recorder, acks)?
        };
        self.append.finish(recorder)?;
        let ended_after_ns = start.elapsed_ns();
        recorder.requested(self.bytes_of(acknowledged));
        let figures = self.figures(acknowledged, &round, recorder);
        Ok(Done { acknowledged, started_after_ns, ended_after_ns, figures, ..Done::default() })
    }

    /// Leaves beside the log what is needed afterwards, outside the clock.
    pub(crate) fn leave(&mut self) -> Result<(), StudyError> {
        self.append.leave()
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
        recorder: &Recorder,
    ) -> BTreeMap<String, f64> {
        let fixed = self.append.calls_per_record() * acknowledged as f64;
        let calls = self.append.calls().map_or(fixed, |calls| calls as f64);
        let mut figures = BTreeMap::from([
            ("calls".to_owned(), calls),
            ("lock_ns".to_owned(), recorder.spent(Spent::default()).lock_ns as f64),
            ("dropped".to_owned(), (self.work.records - acknowledged) as f64),
        ]);
        if round.service.count() > 0 {
            let tick_ns = recorder.clock().tick_ns();
            let p99_ns = round.service.quantile(0.99) * tick_ns;
            figures.insert("service_mean_ns".to_owned(), round.service.mean() * tick_ns);
            figures.insert("service_p99_ns".to_owned(), p99_ns);
        }
        figures
    }
}

/// One slice's loop, and what it keeps between records.
pub(crate) struct Round {
    records: u64,
    syncs: Syncs,
    pace_ticks: f64,
    first: u64,
    /// Of operations that come at a rate: from when they really began.
    service: Histogram,
}

impl Round {
    fn new(work: &Work, recorder: &Recorder) -> Self {
        let tick_ns = recorder.clock().tick_ns();
        Self {
            records: work.records,
            syncs: Syncs::new(work, recorder),
            pace_ticks: work.pace_ns / tick_ns,
            first: recorder.last_ticks() + (work.pace_first_ns / tick_ns) as u64,
            service: Histogram::new(),
        }
    }

    pub(crate) fn at_full_speed(
        &mut self,
        append: &mut (impl Append + ?Sized),
        recorder: &mut Recorder,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        let mut next = 0;
        if acks.is_none() && self.syncs.are_never() {
            // What most runs time: nothing but the append and the reading.
            for _ in 0..self.records {
                next += u64::from(append.append(next as usize, recorder)? != Taken::Dropped);
                recorder.lap();
                recorder.check_stop()?;
            }
            return Ok(next);
        }
        for _ in 0..self.records {
            next += self.one(next, append, recorder, acks)?;
            recorder.lap();
            recorder.check_stop()?;
        }
        Ok(next)
    }

    fn at_a_pace(
        &mut self,
        append: &mut dyn Append,
        recorder: &mut Recorder,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        let mut next = 0;
        for attempt in 0..self.records {
            let intended = self.first + (attempt as f64 * self.pace_ticks) as u64;
            let began = wait_until(intended, recorder.clock());
            next += self.one(next, append, recorder, acks)?;
            recorder.lap_from(intended);
            self.service.record(recorder.last_ticks().saturating_sub(began));
            recorder.check_stop()?;
        }
        Ok(next)
    }

    /// Appends one record, with the sync that is due after it. How many were taken.
    #[inline]
    fn one(
        &mut self,
        index: u64,
        append: &mut (impl Append + ?Sized),
        recorder: &mut Recorder,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        let taken = append.append(index as usize, recorder)?;
        let synced = self.syncs.are_due(recorder);
        if synced {
            recorder.sync(|| append.sync())?;
        }
        if let Some(acks) = acks.filter(|_| taken == Taken::Acknowledged || synced) {
            acks.store(index + 1, Ordering::Relaxed);
        }
        Ok(u64::from(taken != Taken::Dropped))
    }
}

/// When the next sync is due.
struct Syncs {
    interval_records: u64,
    until: u64,
    interval_ticks: u64,
    next_ticks: u64,
}

impl Syncs {
    fn new(work: &Work, recorder: &Recorder) -> Self {
        let ticks = |ns: u64| (ns as f64 / recorder.clock().tick_ns()) as u64;
        let interval_records = if work.sync_records == 0 { u64::MAX } else { work.sync_records };
        let interval_ticks = ticks(work.sync_interval_ns);
        let next_ticks = match interval_ticks {
            0 => u64::MAX,
            _ => recorder.last_ticks() + ticks(work.sync_first_ns),
        };
        Self { interval_records, until: interval_records, interval_ticks, next_ticks }
    }

    fn are_never(&self) -> bool {
        self.interval_records == u64::MAX && self.interval_ticks == 0
    }

    #[inline]
    fn are_due(&mut self, recorder: &Recorder) -> bool {
        self.until -= 1;
        if self.until == 0 {
            self.until = self.interval_records;
            return true;
        }
        // The last operation's end is near enough, and costs no reading.
        let now = recorder.last_ticks();
        let due = now >= self.next_ticks;
        if due {
            self.next_ticks = now + self.interval_ticks;
        }
        due
    }
}

/// Sleeps, then spins, until a moment; when it really was.
fn wait_until(intended: u64, clock: &Clock) -> u64 {
    loop {
        let now = clock.ticks();
        if now >= intended {
            return now;
        }
        let left = clock.between(now, intended);
        if left > SPIN {
            std::thread::sleep(left.saturating_sub(SPIN));
        }
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
    let work: Work = serde_json::from_value(assignment.work.clone())
        .map_err(|e| StudyError::Worker(format!("cannot read an assignment: {e}")))?;
    let folder = open_folder(&work.folder).doing("opening the slice's folder")?;
    let acks = work.acks.as_deref().map(Acks::open).transpose();
    let acks = acks.doing("opening the counters of acknowledged records")?;
    let number = work.writer;
    let mut recorder = Recorder::new(session.clock.clone(), StopFlag::clone(session.stop));
    let mut writer = Writer::ready(work, &folder)?;
    let probe = WorkerProbe::open(&Root::real(), &[], &mut Vec::new());
    let start = session.start().doing("waiting for the start")?;
    let before = probe.before();
    recorder.start();
    let done = writer.write(start, &mut recorder, acks.as_ref().map(|acks| acks.of(number)));
    recorder.finish();
    let used = probe.after().since(before);
    let done = done?;
    writer.leave()?;
    Ok(report(done, &recorder, used))
}

fn open_folder(path: &str) -> io::Result<OwnedFd> {
    let path = CString::new(path)?;
    Ok(openat(CWD, &path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn report(done: Done, recorder: &Recorder, process: Spent) -> Report {
    let tick_ns = recorder.clock().tick_ns();
    Report {
        acknowledged: done.acknowledged,
        started_after_ns: done.started_after_ns,
        ended_after_ns: done.ended_after_ns,
        spent: recorder.spent(process),
        figures: done.figures,
        ..workers::report(recorder.latencies(), tick_ns)
    }
}
