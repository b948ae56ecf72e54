//! Workers at the other end of two pipes, which carry a line of JSON at a time.
//!
//! They are on this machine and share its `CLOCK_MONOTONIC`, by which they are told
//! when to start; and they need not calibrate a clock of their own.

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::child::{ChildProcess, Program};
use super::pool::{WorkerKind, WorkerPool};
use super::protocol::{Assignment, FromWorker};
use super::thread::{WorkerThread, without_what_the_process_counts};
use super::transport::Transport;
use crate::{Error, StopFlag};
use host::clock::{ClockTold, monotonic_ns};

/// Long enough for every worker to be told before the start has come.
const HEAD_START: Duration = Duration::from_millis(1);
/// A worker that sends nothing for this long will never send anything.
const SILENCE_MAX: Duration = Duration::from_secs(120);
/// How often to look whether the run should end.
const STOP_CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// What is written to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToWorker {
    /// To make ready for some work.
    Work {
        /// The clock, for workers that read ticks.
        clock: ClockTold,
        /// The work.
        #[serde(flatten)]
        assignment: Assignment,
    },
    /// To start when `CLOCK_MONOTONIC` shows so many nanoseconds.
    Start(u64),
}

/// Workers over pipes.
pub(super) struct PipeTransport {
    workers: Vec<PipeWorker>,
    clock: ClockTold,
    pool: WorkerPool,
}

/// One worker. The pipes are closed before its thread is waited for.
pub(super) struct PipeWorker {
    writer: PipeWriter,
    reader: BufReader<PipeReader>,
    name: &'static str,
    peer: Peer,
}

enum Peer {
    Thread(#[expect(dead_code, reason = "waits for the thread when dropped")] WorkerThread),
    Process(ChildProcess),
}

impl PipeTransport {
    pub(super) fn new(workers: Vec<PipeWorker>, clock: ClockTold, pool: WorkerPool) -> Self {
        Self { workers, clock, pool }
    }
}

impl Transport for PipeTransport {
    fn workers(&self) -> usize {
        self.workers.len()
    }

    fn assign(&mut self, worker: usize, assignment: &Assignment) -> Result<(), Error> {
        let assignment = Assignment::clone(assignment);
        self.workers[worker].send(&ToWorker::Work { clock: self.clock, assignment })
    }

    fn start_together(&mut self) -> Result<(), Error> {
        let at_ns = monotonic_ns() + HEAD_START.as_nanos() as u64;
        self.workers.iter_mut().try_for_each(|worker| worker.send(&ToWorker::Start(at_ns)))
    }

    fn receive(&mut self, worker: usize, stop: &StopFlag) -> Result<FromWorker, Error> {
        let worker = &mut self.workers[worker];
        let since = Instant::now();
        loop {
            let fd = worker.reader.get_ref().as_fd();
            let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
            // An interrupted wait is begun again, as one that timed out is.
            if poll(&mut fds, Some(&STOP_CHECK)).unwrap_or(0) > 0 {
                return worker.receive();
            }
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            if since.elapsed() > SILENCE_MAX {
                return Err(Error::WorkerSilent { seconds: SILENCE_MAX.as_secs() });
            }
        }
    }

    fn kill(&mut self) {
        self.workers.iter_mut().for_each(PipeWorker::kill);
    }

    /// Processes wait in the pool; threads end.
    fn release(self: Box<Self>) {
        let Self { workers, pool, .. } = *self;
        let processes = workers.into_iter().filter(|w| matches!(w.peer, Peer::Process(_)));
        processes.for_each(|worker| pool.put(worker));
    }
}

impl PipeWorker {
    /// Starts a thread or a process.
    pub(super) fn spawn(kind: WorkerKind, stop: &StopFlag) -> Result<Self, Error> {
        let name = kind.name();
        let not_started = |source| Error::WorkerNotStarted { worker: name, source };
        let (their_reader, writer) = pipe().map_err(not_started)?;
        let (reader, their_writer) = pipe().map_err(not_started)?;
        let peer = match kind {
            WorkerKind::Threads(work) => {
                let thread = WorkerThread::start(work, their_reader, their_writer, stop);
                Peer::Thread(thread.map_err(not_started)?)
            }
            WorkerKind::Processes(program) => {
                Peer::Process(ChildProcess::start(program, their_reader, their_writer)?)
            }
        };
        Ok(Self { writer, reader: BufReader::new(reader), name, peer })
    }

    /// Whether it is a process that runs this program.
    pub(super) fn runs(&self, program: Program) -> bool {
        matches!(&self.peer, Peer::Process(process) if process.program == program)
    }

    /// Writes a message. A worker that has gone is noticed on receiving.
    fn send(&mut self, message: &ToWorker) -> Result<(), Error> {
        let mut line = serde_json::to_vec(message).map_err(|e| self.broken(&e.to_string()))?;
        line.push(b'\n');
        let _ = self.writer.write_all(&line);
        Ok(())
    }

    /// Reads the next message.
    fn receive(&mut self) -> Result<FromWorker, Error> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => Err(self.ended()),
            Ok(_) => match serde_json::from_str(&line) {
                Ok(message) => Ok(self.accounted(message)),
                Err(error) => Err(self.broken(&format!("{error}: {}", line.trim()))),
            },
            Err(source) => Err(Error::Receive { worker: self.name, source }),
        }
    }

    /// The one place at which a thread's report is told from a process's.
    fn accounted(&self, message: FromWorker) -> FromWorker {
        match (&self.peer, message) {
            (Peer::Thread(_), FromWorker::Done(mut report)) => {
                report.spent = without_what_the_process_counts(report.spent);
                FromWorker::Done(report)
            }
            (_, message) => message,
        }
    }

    fn ended(&mut self) -> Error {
        let how = match &mut self.peer {
            Peer::Thread(_) => "ended early".to_owned(),
            Peer::Process(process) => process.exit_description(),
        };
        Error::WorkerEnded { worker: self.name, how }
    }

    fn broken(&self, why: &str) -> Error {
        Error::Protocol { worker: self.name, why: why.to_owned() }
    }

    /// Ends the worker in the middle of what it does, where it is a process.
    fn kill(&mut self) {
        if let Peer::Process(process) = &mut self.peer {
            process.kill();
        }
    }
}

impl Drop for PipeWorker {
    /// A process is ended before its pipes are closed, of which it might complain.
    fn drop(&mut self) {
        self.kill();
    }
}
