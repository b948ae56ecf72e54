//! One worker as its crew holds it, whatever its kind; and the pool in which
//! idle worker processes wait for the next slice.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use model::spent::Calls;

use super::process::{Process, Program};
use super::protocol::{FromWorker, Report, Ticket, ToWorker};
use super::serve::serve;
use crate::recorder::StopFlag;
use crate::study::StudyError;

/// Does a ticket's work in a worker: makes ready, waits to be started by
/// calling the closure, and reports.
pub(super) type Work =
    fn(&Ticket, &StopFlag, &mut dyn FnMut() -> io::Result<()>) -> Result<Report, String>;

/// Who does the work.
#[derive(Clone, Copy)]
pub enum Hands {
    /// Threads of this process, by this function.
    Threads(Work),
    /// Processes that run a program.
    Processes(Program),
}

/// Idle worker processes, kept for the next slice.
#[derive(Default)]
pub struct Pool {
    idle: Mutex<Vec<(Program, Process)>>,
}

impl Pool {
    /// An empty one.
    pub const fn new() -> Self {
        Self { idle: Mutex::new(Vec::new()) }
    }

    fn take(&self, program: Program) -> Option<Process> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle.iter().position(|(p, _)| *p == program)?;
        Some(idle.swap_remove(found).1)
    }

    fn put(&self, program: Program, process: Process) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push((program, process));
    }
}

/// One worker.
pub(super) struct Worker(Body);

enum Body {
    Thread(Thread),
    Process { program: Program, process: Process },
}

/// A thread, with the pipes to talk to it: `None` only once it is let go.
struct Thread {
    to: Option<PipeWriter>,
    from: Option<BufReader<PipeReader>>,
    handle: Option<JoinHandle<()>>,
}

impl Worker {
    /// Calls up a worker: an idle process, a new one, or a thread.
    pub(super) fn summon(hands: Hands, pool: &Pool, stop: &StopFlag) -> Result<Self, StudyError> {
        match hands {
            Hands::Processes(program) => {
                let process = pool.take(program).map_or_else(|| Process::start(program), Ok)?;
                Ok(Self(Body::Process { program, process }))
            }
            Hands::Threads(work) => Thread::start(work, stop)
                .map(|thread| Self(Body::Thread(thread)))
                .map_err(|e| StudyError::Worker(format!("starting a thread as a worker: {e}"))),
        }
    }

    /// What to wait on for the worker's next line.
    pub(super) fn ear(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Body::Thread(thread) => thread.mouth().get_ref().as_fd(),
            Body::Process { process, .. } => process.from.get_ref().as_fd(),
        }
    }

    /// Tells the worker something. One that has gone is noticed when listening.
    pub(super) fn tell(&mut self, what: &ToWorker) {
        let Ok(mut line) = serde_json::to_vec(what) else {
            unreachable!("numbers, texts and lists of them have a form in JSON")
        };
        line.push(b'\n');
        let _ = match &mut self.0 {
            Body::Thread(thread) => thread.to.as_mut().map_or(Ok(()), |to| to.write_all(&line)),
            Body::Process { process, .. } => process.to.write_all(&line),
        };
    }

    /// What the worker says next; an error in words where it is gone or babbles.
    pub(super) fn hear(&mut self) -> Result<FromWorker, String> {
        let mut line = String::new();
        let heard = match &mut self.0 {
            Body::Thread(thread) => thread.mouth_mut().read_line(&mut line),
            Body::Process { process, .. } => process.from.read_line(&mut line),
        };
        match heard {
            Ok(0) => Err(self.epitaph()),
            Ok(_) => serde_json::from_str(&line)
                .map(|said| self.without_the_process(said))
                .map_err(|e| format!("{} spoke out of turn: {e}: {}", self.name(), line.trim())),
            Err(error) => Err(format!("listening to {}: {error}", self.name())),
        }
    }

    /// What a thread read of its process is everyone's, and counted there.
    fn without_the_process(&self, said: FromWorker) -> FromWorker {
        match (&self.0, said) {
            (Body::Thread(_), FromWorker::Done(mut report)) => {
                (report.user_ns, report.system_ns) = (0, 0);
                report.calls = Some(Calls::default());
                FromWorker::Done(report)
            }
            (_, said) => said,
        }
    }

    fn name(&self) -> &'static str {
        match &self.0 {
            Body::Thread(_) => "a writer thread",
            Body::Process { program: Program::OURSELVES, .. } => "a writer process",
            Body::Process { program, .. } => program.command,
        }
    }

    fn epitaph(&mut self) -> String {
        let name = self.name();
        match &mut self.0 {
            Body::Thread(_) => format!("{name} ended early"),
            Body::Process { process, .. } => format!("{name} {}", process.epitaph()),
        }
    }

    /// Ends the worker in the middle of what it does, where it is a process.
    pub(super) fn kill(&mut self) {
        if let Body::Process { process, .. } = &mut self.0 {
            process.kill();
        }
    }

    /// Lets the worker go after its work is done: a process waits in the pool.
    pub(super) fn dismiss(self, pool: &Pool) {
        if let Body::Process { program, process } = self.0 {
            pool.put(program, process);
        }
    }
}

impl Thread {
    fn start(work: Work, stop: &StopFlag) -> io::Result<Self> {
        let (their_ear, to) = io::pipe()?;
        let (from, their_mouth) = io::pipe()?;
        let stop = StopFlag::clone(stop);
        let handle = thread::Builder::new().name("worker".to_owned()).spawn(move || {
            // Whoever is at the other end sees the pipe close, and says so.
            let _ = serve(BufReader::new(their_ear), their_mouth, &stop, work);
        })?;
        Ok(Self { to: Some(to), from: Some(BufReader::new(from)), handle: Some(handle) })
    }

    fn mouth(&self) -> &BufReader<PipeReader> {
        self.from.as_ref().unwrap_or_else(|| unreachable!("it is let go when dropped alone"))
    }

    fn mouth_mut(&mut self) -> &mut BufReader<PipeReader> {
        self.from.as_mut().unwrap_or_else(|| unreachable!("it is let go when dropped alone"))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // With both pipes closed it neither waits for a word nor to be heard.
        drop((self.to.take(), self.from.take()));
        // A panic in it has already been told by its silence.
        let _ = self.handle.take().map(JoinHandle::join);
    }
}
