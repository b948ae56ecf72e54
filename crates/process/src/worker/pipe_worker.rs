//! One worker at the other end of two pipes, which carry a line of JSON at a time.

use std::io::{ErrorKind, PipeReader, PipeWriter, Write as _, pipe};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Instant;

use super::child::{ChildProcess, DYING_MAX, Program};
use super::kind::WorkerKind;
use super::lines::Lines;
use super::message::ToWorker;
use super::protocol::FromWorker;
use super::thread::{WorkerThread, without_what_the_process_counts};
use crate::{Error, StopFlag};

/// One worker. The pipes are closed before its thread is waited for.
pub(super) struct PipeWorker {
    writer: PipeWriter,
    lines: Lines<PipeReader>,
    name: &'static str,
    peer: Peer,
}

enum Peer {
    Thread(#[expect(dead_code, reason = "waits for the thread when dropped")] WorkerThread),
    Process(ChildProcess),
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
        Ok(Self { writer, lines: Lines::new(reader), name, peer })
    }

    /// Whether it is a process that runs this program.
    pub(super) fn runs(&self, program: Program) -> bool {
        matches!(&self.peer, Peer::Process(process) if process.program == program)
    }

    /// Whether it is a process, which can do more work.
    pub(super) fn is_process(&self) -> bool {
        matches!(self.peer, Peer::Process(_))
    }

    /// What is readable once it has sent something.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.lines.pipe().as_fd()
    }

    /// Writes a message. A worker that has gone is noticed on receiving, which knows how it
    /// ended; one that lives and was told nothing would wait for ever.
    pub(super) fn send(&mut self, message: &ToWorker) -> Result<(), Error> {
        let mut line = serde_json::to_vec(message).map_err(|e| Error::protocol(self.name, e))?;
        line.push(b'\n');
        match self.writer.write_all(&line) {
            Err(source) if source.kind() != ErrorKind::BrokenPipe => {
                Err(Error::WorkerFailed(format!("cannot write to {}: {source}", self.name)))
            }
            _ => Ok(()),
        }
    }

    /// The next message, if it has come whole.
    pub(super) fn received(&mut self) -> Option<Result<FromWorker, Error>> {
        let line = self.lines.take()?;
        Some(match FromWorker::read(&line) {
            Ok(message) => Ok(self.accounted(message)),
            Err(why) => Err(Error::protocol(self.name, why)),
        })
    }

    /// Takes in what it has sent since, which there has to be.
    pub(super) fn take_in(&mut self) -> Result<(), Error> {
        match self.lines.fill() {
            Ok(0) => Err(self.ended()),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                Err(Error::protocol(self.name, error))
            }
            Err(error) => {
                Err(Error::WorkerFailed(format!("cannot read from {}: {error}", self.name)))
            }
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
        Error::WorkerFailed(format!("{} {how}", self.name))
    }

    /// Ends the worker in the middle of what it does, where it is a process; with
    /// [`bury`](Self::bury) it is waited for.
    pub(super) fn kill(&mut self) {
        if let Peer::Process(process) = &mut self.peer {
            process.kill();
        }
    }

    /// Waits for the end of a process that was killed.
    pub(super) fn bury(&mut self, deadline: Instant) {
        if let Peer::Process(process) = &mut self.peer {
            process.bury(deadline);
        }
    }
}

impl Drop for PipeWorker {
    /// A process is ended before its pipes are closed, of which it might complain.
    fn drop(&mut self) {
        self.kill();
        self.bury(Instant::now() + DYING_MAX);
    }
}

/// Several workers. Dropping them ends all at once, so that several that do not die take
/// no longer than one.
#[derive(Default)]
pub(super) struct PipeWorkers(pub(super) Vec<PipeWorker>);

impl PipeWorkers {
    /// Ends all that are processes, in the middle of what they do.
    pub(super) fn kill(&mut self) {
        self.0.iter_mut().for_each(PipeWorker::kill);
        let deadline = Instant::now() + DYING_MAX;
        self.0.iter_mut().for_each(|worker| worker.bury(deadline));
    }
}

impl Drop for PipeWorkers {
    fn drop(&mut self) {
        self.kill();
    }
}
