//! The workers of one slice: made ready, started together, heard out.

use std::time::{Duration, Instant};

use host::clock::monotonic_ns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::protocol::{FromWorker, Report, Ticket, ToWorker};
use super::team::{Hands, Pool, Worker};
use crate::recorder::StopFlag;
use crate::study::StudyError;

/// Long enough for every worker to be told before the start has come.
const HEAD_START: Duration = Duration::from_millis(1);
/// A worker that says nothing for this long will never say anything.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// How often the crew asks whether the run should end.
const ASK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Workers that have their tickets.
pub struct Crew<'a> {
    workers: Vec<Worker>,
    /// Whether they are threads, whose time on processors this process counts.
    threads: bool,
    pool: &'a Pool,
    stop: StopFlag,
}

impl<'a> Crew<'a> {
    /// Calls up a worker for each ticket, and waits until all are ready.
    pub fn ready(
        hands: Hands,
        tickets: Vec<Ticket>,
        pool: &'a Pool,
        stop: &StopFlag,
    ) -> Result<Self, StudyError> {
        let workers =
            tickets.iter().map(|_| Worker::summon(hands, pool, stop)).collect::<Result<_, _>>()?;
        let threads = matches!(hands, Hands::Threads(_));
        let mut crew = Self { workers, threads, pool, stop: StopFlag::clone(stop) };
        for (worker, ticket) in crew.workers.iter_mut().zip(tickets) {
            worker.tell(&ToWorker::Work(ticket));
        }
        for index in 0..crew.workers.len() {
            match crew.hear(index)? {
                FromWorker::Ready => {}
                FromWorker::Failed(why) => return Err(StudyError::Worker(why)),
                FromWorker::Done(_) => {
                    return Err(StudyError::Worker("a worker was done before the start".into()));
                }
            }
        }
        Ok(crew)
    }

    /// Starts all at one moment.
    pub fn start(&mut self) {
        let at_ns = monotonic_ns() + HEAD_START.as_nanos() as u64;
        for worker in &mut self.workers {
            worker.tell(&ToWorker::Start(at_ns));
        }
    }

    /// Waits for all, and hands back what each did; the first failure where one failed.
    pub fn reports(mut self) -> Result<Vec<Report>, StudyError> {
        let mut reports = Vec::new();
        let mut failure = None;
        for index in 0..self.workers.len() {
            match self.hear(index)? {
                FromWorker::Done(report) if self.threads => {
                    reports.push(Report { user_ns: 0, system_ns: 0, ..*report });
                }
                FromWorker::Done(report) => reports.push(*report),
                FromWorker::Failed(why) => failure = failure.or(Some(why)),
                FromWorker::Ready => {
                    return Err(StudyError::Worker("a worker was ready twice".into()));
                }
            }
        }
        for worker in self.workers.drain(..) {
            worker.dismiss(self.pool);
        }
        failure.map_or(Ok(reports), |why| Err(StudyError::Worker(why)))
    }

    /// Kills all, in the middle of what they do.
    pub fn kill(mut self) {
        self.workers.iter_mut().for_each(Worker::kill);
    }

    /// A worker's next word. Dropping the crew on an error ends its workers.
    fn hear(&mut self, index: usize) -> Result<FromWorker, StudyError> {
        let worker = &mut self.workers[index];
        let since = Instant::now();
        loop {
            let mut ears = [PollFd::from_borrowed_fd(worker.ear(), PollFlags::IN)];
            // An interrupted wait is asked again, as one that timed out is.
            if poll(&mut ears, Some(&ASK)).unwrap_or(0) > 0 {
                return worker.hear().map_err(StudyError::Worker);
            }
            if self.stop.load(std::sync::atomic::Ordering::Relaxed) {
                return Err(StudyError::Stopped);
            }
            if since.elapsed() > SILENCE_MAX {
                return Err(StudyError::Worker(format!(
                    "a worker said nothing for {} s, and was ended",
                    SILENCE_MAX.as_secs()
                )));
            }
        }
    }
}
