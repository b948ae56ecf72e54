//! Kinds of workers.

use std::os::fd::{AsFd, AsRawFd as _};

use super::child::Program;
use super::serve::Work;

/// Who does the work.
#[derive(Clone, Copy)]
pub enum WorkerKind {
    /// Threads of this process, by this function.
    Threads(Work),
    /// Processes on this machine that run a program.
    Processes(Program),
}

impl WorkerKind {
    /// A path by which workers of this kind open a file or a folder of this process, as
    /// long as it stays open here. It leads to that very one, wherever it stands by then.
    pub fn path_to(&self, file: impl AsFd) -> String {
        match self {
            // Both kinds are of this user and see this machine's `/proc`.
            Self::Threads(_) | Self::Processes(_) => {
                format!("/proc/{}/fd/{}", std::process::id(), file.as_fd().as_raw_fd())
            }
        }
    }

    /// What messages call such a worker.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Threads(_) => "a worker thread",
            Self::Processes(program) => program.name(),
        }
    }
}
