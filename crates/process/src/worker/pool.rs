//! Idle processes, kept for the next slice.

use std::sync::{Arc, Mutex, PoisonError};

use super::kind::WorkerKind;
use super::pipe_worker::{PipeWorker, PipeWorkers};

/// Idle worker processes, kept for the next slice.
///
/// Clones share the same processes. They are ended with the last clone, or with this
/// process.
#[derive(Clone, Default)]
pub struct WorkerPool(Arc<Mutex<PipeWorkers>>);

impl WorkerPool {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// An idle worker of a kind, if there is one.
    pub(super) fn take(&self, kind: WorkerKind) -> Option<PipeWorker> {
        let WorkerKind::Processes(program) = kind else { return None };
        let idle = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).0;
        let found = idle.iter().position(|worker| worker.runs(program))?;
        Some(idle.swap_remove(found))
    }

    /// Keeps a process whose work is done.
    pub(super) fn put(&self, worker: PipeWorker) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.push(worker);
    }
}
