//! Kinds of workers, and idle processes kept for the next slice.

use std::os::fd::{AsFd, AsRawFd as _};
use std::sync::{Arc, Mutex, PoisonError};

use super::child::Program;
use super::pipe::{PipeTransport, PipeWorker};
use super::serve::Work;
use super::transport::Transport;
use crate::{Error, StopFlag};
use host::clock::Clock;

/// Who does the work.
#[derive(Clone, Copy)]
pub enum WorkerKind {
    /// Threads of this process, by this function.
    Threads(Work),
    /// Processes on this machine that run a program.
    Processes(Program),
}

impl WorkerKind {
    /// A path by which workers of this kind open a descriptor of this process, as
    /// long as it stays open here.
    pub fn path_to(&self, file: impl AsFd) -> String {
        match self {
            // Both kinds are of this user and see this machine's `/proc`.
            Self::Threads(_) | Self::Processes(_) => {
                format!("/proc/{}/fd/{}", std::process::id(), file.as_fd().as_raw_fd())
            }
        }
    }

    /// A path by which they open a folder: its own where that is text, for a detour
    /// through `/proc` would be part of an interpreter's toll.
    pub fn path_to_folder(&self, folder: impl AsFd) -> String {
        let detour = self.path_to(folder);
        let path = std::fs::read_link(&detour).ok();
        path.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or(detour)
    }

    /// What messages call such a worker.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Threads(_) => "a worker thread",
            Self::Processes(program) => program.name(),
        }
    }
}

/// Idle worker processes, kept for the next slice.
///
/// Clones share the same processes. They are ended with the last clone, or with this
/// process.
#[derive(Clone, Default)]
pub struct WorkerPool(Arc<Mutex<Vec<PipeWorker>>>);

impl WorkerPool {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// So many workers of a kind: idle ones first, then new ones.
    pub(super) fn connect(
        &self,
        kind: WorkerKind,
        workers: usize,
        clock: &Clock,
        stop: &StopFlag,
    ) -> Result<Box<dyn Transport>, Error> {
        let connect = |_| match self.take(kind) {
            Some(idle) => Ok(idle),
            None => PipeWorker::spawn(kind, stop),
        };
        let workers = (0..workers).map(connect).collect::<Result<_, _>>()?;
        Ok(Box::new(PipeTransport::new(workers, clock.tell(), self.clone())))
    }

    fn take(&self, kind: WorkerKind) -> Option<PipeWorker> {
        let WorkerKind::Processes(program) = kind else { return None };
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = idle.iter().position(|worker| worker.runs(program))?;
        Some(idle.swap_remove(found))
    }

    /// Keeps a process whose work is done.
    pub(super) fn put(&self, worker: PipeWorker) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
    }
}
