//! A slice of the study: who writes, and what is made of it afterwards.
//!
//! A single native writer works in this very process, with no pipe or second
//! clock between it and the recorder. Several, and interpreters, are a crew.
//! With several writers the toll is what one of them sees: the sum of their
//! times over all records. It can be held against a single writer's; what all
//! of them get done together stands beside it as `records_per_s`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Instant;

use engine::recorder::{Elsewhere, Recorder, StopFlag};
use engine::study::{Doing, StudyError, Task};
use engine::worker::{Crew, Hands, Pool, Report, Ticket};
use host::clock::ClockTold;
use model::counters::Counters;
use model::integrity::Integrity;
use rustix::fs::{Mode, OFlags, fdatasync, fstat, openat};

use super::acks::path_of;
use super::append::{OPENING, SYNCING, log_name};
use super::records::Records;
use super::verify::{Expected, account};
use super::work::Work;
use super::writer::{Done, Writer};
use super::{crash, per_writer};
use crate::file::open_for_writing;

/// What a slice is told, before its number of records is known.
pub(super) struct Setting {
    /// The first writer's work.
    pub(super) work: Work,
    pub(super) writers: u64,
    /// Who writes beside this process; nobody where it writes by itself.
    pub(super) hands: Option<Hands>,
    /// Whether the writers must be handed their records.
    pub(super) hand_over_records: bool,
    /// How often writers are killed afterwards.
    pub(super) kills: u64,
    pub(super) folder: OwnedFd,
    pub(super) pool: &'static Pool,
}

/// One slice.
pub(super) struct LogTask {
    setting: Setting,
    ready: Ready,
    /// The writer of this process, once it has written.
    written: Option<Box<Writer>>,
    outcome: Outcome,
    clock: ClockTold,
    stop: StopFlag,
}

enum Ready {
    Nobody,
    Alone(Box<Writer>),
    Crew(Crew<'static>, Vec<OwnedFd>),
}

/// What the slice came to.
#[derive(Default)]
struct Outcome {
    acknowledged: Vec<u64>,
    requested_bytes: u64,
    figures: Vec<(&'static str, f64)>,
}

impl Setting {
    fn is_per_writer(&self) -> bool {
        self.work.strategy == "per-writer"
    }

    /// A ticket for each writer, and what must be kept open until they are done.
    pub(super) fn tickets(
        &self,
        work: &Work,
        clock: ClockTold,
    ) -> Result<(Vec<Ticket>, Vec<OwnedFd>), StudyError> {
        let mut kept = Vec::new();
        let tickets = (0..self.writers as u32)
            .map(|number| {
                let mut work = work.of_writer(number, self.writers);
                work.folder = path_for_others(&self.folder);
                if self.hand_over_records {
                    let file = records_file(&work).doing("making a writer's records")?;
                    work.records_file = Some(path_of(&file));
                    kept.push(file);
                }
                let work = serde_json::to_value(&work).map_err(io::Error::from);
                let work = work.doing("writing down a writer's work")?;
                Ok(Ticket { study: "log".to_owned(), clock, work })
            })
            .collect::<Result<_, StudyError>>()?;
        Ok((tickets, kept))
    }
}

/// A path by which another process reaches the folder: its own where that is
/// text, for a detour through /proc would be part of an interpreter's toll.
fn path_for_others(folder: &OwnedFd) -> String {
    let detour = path_of(folder);
    let path =
        std::fs::read_link(&detour).ok().and_then(|path| path.into_os_string().into_string().ok());
    path.unwrap_or(detour)
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

impl LogTask {
    pub(super) fn new(setting: Setting) -> Result<Self, StudyError> {
        // There is a log to read back, whatever the writers come to.
        open_for_writing(&setting.folder, &log_name(&setting.work.stem), OFlags::APPEND)
            .doing("making the log file")?;
        let (ready, outcome) = (Ready::Nobody, Outcome::default());
        let clock = ClockTold { cycles: false, tick_ns: 1.0 };
        Ok(Self { setting, ready, written: None, outcome, clock, stop: StopFlag::default() })
    }

    fn take_done(&mut self, done: Done, recorder: &Recorder) {
        let report = Report {
            acknowledged: done.acknowledged,
            began_ns: done.began_ns,
            ended_ns: done.ended_ns,
            elapsed_ns: recorder.elapsed_ns(),
            requested_bytes: done.requested_bytes,
            figures: done.figures,
            ..Report::default()
        };
        self.take_reports(&[report], recorder);
    }

    fn take_reports(&mut self, reports: &[Report], recorder: &Recorder) {
        let longest = recorder.latencies().max() as f64 * recorder.clock().tick_ns();
        self.outcome = Outcome {
            acknowledged: reports.iter().map(|r| r.acknowledged).collect(),
            requested_bytes: reports.iter().map(|r| r.requested_bytes).sum(),
            figures: figures(reports, longest),
        };
    }

    fn log_size(&self) -> io::Result<u64> {
        Ok(fstat(self.open_log()?)?.st_size as u64)
    }

    fn open_log(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = log_name(&self.setting.work.stem);
        Ok(openat(&self.setting.folder, &name, flags, Mode::empty())?.into())
    }

    /// Makes one log of the writers' own.
    fn merge(&mut self) -> Result<(), StudyError> {
        let began = Instant::now();
        let Setting { folder, work, .. } = &self.setting;
        per_writer::merge(folder.as_fd(), &work.stem, work.format(), &self.outcome.acknowledged)?;
        let took_ns = began.elapsed().as_nanos() as f64;
        self.outcome.figures.push(("merge_ns_per_record", took_ns));
        Ok(())
    }
}

impl Task for LogTask {
    fn ready(&mut self, operations: u64, recorder: &Recorder) -> Result<(), StudyError> {
        let setting = &self.setting;
        self.stop = StopFlag::clone(recorder.stop_flag());
        self.clock = recorder.clock().tell();
        let work = Work { records: operations / setting.writers, ..setting.work.clone() };
        self.ready = match setting.hands {
            None => Ready::Alone(Box::new(Writer::ready(work, &setting.folder)?)),
            Some(hands) => {
                let (tickets, kept) = setting.tickets(&work, recorder.clock().tell())?;
                Ready::Crew(Crew::ready(hands, tickets, setting.pool, &self.stop)?, kept)
            }
        };
        Ok(())
    }

    fn run(&mut self, _operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        match std::mem::replace(&mut self.ready, Ready::Nobody) {
            Ready::Nobody => unreachable!("the slice is made ready before it runs"),
            Ready::Alone(mut writer) => {
                let done = writer.write(recorder, None)?;
                recorder.finish();
                self.take_done(done, recorder);
                self.written = Some(writer);
            }
            Ready::Crew(mut crew, kept) => {
                crew.start();
                let reports = crew.reports();
                recorder.check_stop()?;
                let reports = reports?;
                drop(kept);
                stand_for(&reports, recorder);
                self.take_reports(&reports, recorder);
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        let Setting { folder, work, writers, .. } = &self.setting;
        if self.setting.is_per_writer() {
            let logs = per_writer::logs(folder.as_fd(), &work.stem, *writers as u32)?;
            return logs.iter().try_for_each(|log| fdatasync(log).doing(SYNCING));
        }
        fdatasync(&self.open_log().doing(OPENING)?).doing(SYNCING)
    }

    fn check(&mut self) -> Result<Option<Integrity>, StudyError> {
        if let Some(mut writer) = self.written.take() {
            writer.leave()?;
        }
        if self.setting.is_per_writer() {
            self.merge()?;
        }
        let size = self.log_size().doing("looking at the log")?;
        self.outcome.figures.push(("bytes_per_record", size as f64));
        let expected: Vec<Expected> =
            self.outcome.acknowledged.iter().map(|records| Expected::all(*records)).collect();
        let log = self.open_log().doing(OPENING)?;
        let account = account(log, self.setting.work.format(), &expected);
        let account = account.doing("reading the log back")?;
        if self.setting.kills > 0 {
            self.outcome.figures.extend(crash::trials(&self.setting, self.clock, &self.stop)?);
        }
        Ok(Some(account.integrity))
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        self.outcome.figures.clone()
    }

    fn requested_bytes(&self) -> u64 {
        self.outcome.requested_bytes
    }
}

/// Puts what the writers report in the place of what was timed here.
fn stand_for(reports: &[Report], recorder: &mut Recorder) {
    let sum = |field: fn(&Report) -> u64| reports.iter().map(field).sum();
    let elsewhere = Elsewhere {
        elapsed_ns: sum(|r| r.elapsed_ns),
        user_ns: sum(|r| r.user_ns),
        system_ns: sum(|r| r.system_ns),
        sync_calls: sum(|r| r.sync_calls),
        sync_ns: sum(|r| r.sync_ns),
        lock_calls: sum(|r| r.lock_calls),
        lock_ns: sum(|r| r.lock_ns),
        run_queue_ns: reports.iter().map(|r| r.run_queue_ns).sum(),
        calls: reports.iter().map(|r| r.calls).reduce(Counters::plus).flatten(),
    };
    let tick_ns = recorder.clock().tick_ns();
    recorder.stand_for(elsewhere, reports.iter().flat_map(|r| r.latencies_in(tick_ns)));
}

/// The slice's figures. Those that end in `_per_record` are sums here, which the
/// arm's number of operations divides.
fn figures(reports: &[Report], longest_ns: f64) -> Vec<(&'static str, f64)> {
    let sum = |name: &str| reports.iter().filter_map(|r| r.figures.get(name)).sum::<f64>();
    let mean = |name: &str| sum(name) / reports.len().max(1) as f64;
    let has = |name: &str| reports.iter().any(|r| r.figures.get(name).is_some_and(|f| *f > 0.0));
    let began_ns = reports.iter().map(|r| r.began_ns).min().unwrap_or_default();
    let ended_ns = reports.iter().map(|r| r.ended_ns).max().unwrap_or_default();
    let wall_s = ended_ns.saturating_sub(began_ns).max(1) as f64 / 1e9;
    let elapsed_ns: u64 = reports.iter().map(|r| r.elapsed_ns).sum();
    let records: u64 = reports.iter().map(|r| r.acknowledged).sum();
    let mut figures =
        vec![("records_per_s", records as f64 / wall_s), ("longest_wait_ns", longest_ns)];
    if reports.len() > 1 {
        figures.push(("fairness_jain", jain(reports)));
    }
    if has("lock_ns") {
        figures.push(("lock_wait_share", sum("lock_ns") / elapsed_ns.max(1) as f64));
    }
    if reports.iter().any(|r| r.figures.contains_key("calls")) {
        figures.push(("calls_per_record", sum("calls")));
    }
    if has("dropped") {
        figures.push(("dropped_per_record", sum("dropped")));
    }
    if has("service_mean_ns") {
        figures.push(("service_mean_ns", mean("service_mean_ns")));
        figures.push(("service_p99_ns", mean("service_p99_ns")));
    }
    figures
}

/// Jain's fairness index of the writers' speeds: 1 where all are as fast, 1/n
/// where one of n gets everything (Jain, Chiu, Hawe: DEC-TR-301, 1984).
fn jain(reports: &[Report]) -> f64 {
    let speeds: Vec<f64> =
        reports.iter().map(|r| r.acknowledged as f64 / r.elapsed_ns.max(1) as f64).collect();
    let sum: f64 = speeds.iter().sum();
    let squares: f64 = speeds.iter().map(|speed| speed * speed).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (speeds.len() as f64 * squares) }
}
