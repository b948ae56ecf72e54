//! Workers at the other end of two pipes, which carry a line of JSON at a time.
//!
//! They are on this machine and share its `CLOCK_MONOTONIC`, by which they are told
//! when to start; and they need not calibrate a clock of their own.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use host::clock::{Clock, ClockTold, monotonic_ns};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::kind::WorkerKind;
use super::message::ToWorker;
use super::pipe_worker::{PipeWorker, PipeWorkers};
use super::pool::WorkerPool;
use super::protocol::{Assignment, FromWorker};
use super::transport::Transport;
use crate::{Error, StopFlag};

/// Long enough for every worker to be told before the start has come.
const HEAD_START: Duration = Duration::from_millis(1);
/// A worker that sends nothing for this long will never send anything.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// How often to look whether the run should end.
const STOP_CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Workers over pipes.
pub(super) struct PipeTransport {
    workers: PipeWorkers,
    clock: ClockTold,
    pool: WorkerPool,
}

impl PipeTransport {
    /// So many workers of a kind: idle ones of the pool first, then new ones.
    pub(super) fn connect(
        pool: &WorkerPool,
        kind: WorkerKind,
        workers: usize,
        clock: &Clock,
        stop: &StopFlag,
    ) -> Result<Self, Error> {
        let mut connected = PipeWorkers::default();
        for _ in 0..workers {
            let idle = pool.take(kind);
            connected.0.push(idle.map_or_else(|| PipeWorker::spawn(kind, stop), Ok)?);
        }
        Ok(Self { workers: connected, clock: clock.tell(), pool: pool.clone() })
    }
}

impl Transport for PipeTransport {
    fn workers(&self) -> usize {
        self.workers.0.len()
    }

    fn assign(&mut self, worker: usize, assignment: &Assignment) -> Result<(), Error> {
        let assignment = Assignment::clone(assignment);
        self.workers.0[worker].send(&ToWorker::Work { clock: self.clock, assignment })
    }

    fn start_together(&mut self) -> Result<(), Error> {
        let at_ns = monotonic_ns() + HEAD_START.as_nanos() as u64;
        self.workers.0.iter_mut().try_for_each(|worker| worker.send(&ToWorker::Start(at_ns)))
    }

    fn go_on(&mut self) -> Result<(), Error> {
        self.workers.0.iter_mut().try_for_each(|worker| worker.send(&ToWorker::Start(0)))
    }

    fn receive(&mut self, worker: usize, stop: &StopFlag) -> Result<FromWorker, Error> {
        let worker = &mut self.workers.0[worker];
        let since = Instant::now();
        loop {
            if let Some(message) = worker.received() {
                return message;
            }
            let mut fds = [PollFd::from_borrowed_fd(worker.fd(), PollFlags::IN)];
            // An interrupted wait is begun again, as one that timed out is.
            if poll(&mut fds, Some(&STOP_CHECK)).unwrap_or(0) > 0 {
                worker.take_in()?;
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            if since.elapsed() > SILENCE_MAX {
                let seconds = SILENCE_MAX.as_secs();
                let why = format!("a worker sent nothing for {seconds} s and was ended");
                return Err(Error::WorkerFailed(why));
            }
        }
    }

    fn kill(&mut self) {
        self.workers.kill();
    }

    /// Processes wait in the pool; threads end.
    fn release(self: Box<Self>) {
        let Self { mut workers, pool, .. } = *self;
        let processes = std::mem::take(&mut workers.0).into_iter().filter(PipeWorker::is_process);
        processes.for_each(|worker| pool.put(worker));
    }
}
