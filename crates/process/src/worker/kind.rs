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
