//! Who writes in the place of this thread: workers on this machine, or on several.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::rc::Rc;

use engine::slice_timer::{SliceTimer, WorkersAre};
use engine::study::StudyError;
use process::worker::{Assignment, Clients, Program, WorkerGroup, WorkerKind, WorkerPool};

use super::config::Config;
use super::spec::WriterKind;
use super::writer;

/// The writers of a slice that this thread is not one of.
pub(super) enum Crew {
    /// Of this machine.
    Here(WorkerKind),
    /// One on each rank that the run was started with.
    Clients(Rc<dyn Clients>),
}

impl Crew {
    /// That of an arm; nobody where this thread writes by itself.
    pub(super) fn of(
        config: &Config,
        clients: Option<&Rc<dyn Clients>>,
    ) -> Result<Option<Self>, StudyError> {
        if config.clients > 1 {
            let enough = clients.filter(|clients| clients.count() as u64 >= config.clients);
            return enough.map(|clients| Some(Self::Clients(Rc::clone(clients)))).ok_or_else(
                || StudyError::Unsuited(format!("there are fewer than {} clients", config.clients)),
            );
        }
        if let Some(interpreter) = config.strategy.interpreter() {
            return Ok(Some(Self::Here(WorkerKind::Processes(interpreter))));
        }
        Ok(match (config.writers, config.kind) {
            (1, _) => None,
            (_, WriterKind::Threads) => {
                Some(Self::Here(WorkerKind::Threads(writer::do_assignment)))
            }
            (_, WriterKind::Processes) => {
                Some(Self::Here(WorkerKind::Processes(Program::OURSELVES)))
            }
        })
    }

    /// What the recorder is to know of them.
    pub(super) fn are(&self) -> WorkersAre {
        match self {
            Self::Here(WorkerKind::Threads(_)) => WorkersAre::Threads,
            Self::Here(WorkerKind::Processes(_)) | Self::Clients(_) => WorkersAre::Processes,
        }
    }

    /// A path by which they open a file or folder of this process, as long as it is open here.
    pub(super) fn path_to(&self, file: &OwnedFd) -> io::Result<String> {
        match self {
            Self::Here(kind) => Ok(kind.path_to(file)),
            // They have it in common: else each has a log of its own.
            Self::Clients(clients) => clients.path_to(0, file.as_fd()),
        }
    }

    /// Has them make ready.
    pub(super) fn ready(
        &self,
        assignments: &[Assignment],
        pool: &WorkerPool,
        timer: &SliceTimer,
    ) -> Result<WorkerGroup, process::Error> {
        let stop = timer.stop_flag();
        match self {
            Self::Here(kind) => WorkerGroup::ready(*kind, assignments, pool, timer.clock(), stop),
            Self::Clients(clients) => {
                WorkerGroup::over(clients.group(assignments.len()), assignments, stop)
            }
        }
    }
}
