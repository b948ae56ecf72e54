//! Why something cannot be recorded.

use std::io;

use thiserror::Error;

/// Why there is no recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The command does not run.
    #[error("cannot run {program}: {error}")]
    CannotRun {
        /// As it was given.
        program: String,
        /// What the kernel said.
        error: io::Error,
    },
    /// There is no such command.
    #[error(
        "cannot run {program}: there is no program of that name{}; shell syntax such as pipes and \
         && needs a shell, as in -- sh -c 'COMMAND | COMMAND'",
        if program.contains('/') { "" } else { " in PATH" }
    )]
    NoProgram {
        /// As it was given.
        program: String,
    },
    /// A directory was given for a command.
    #[error("cannot run {program}: it is a directory; name a program in it")]
    IsDirectory {
        /// As it was given.
        program: String,
    },
    /// The command has more rights than the user who records it.
    #[error(
        "{program} runs with the rights of its file's owner or with capabilities of its own, \
         which it would not get while it is recorded by this user; record it as root"
    )]
    Privileged {
        /// As it was given.
        program: String,
    },
    /// Nothing can be recorded here.
    #[error(
        "programs may not be recorded here: ptrace(2) is refused ({0}), as in containers without \
         CAP_SYS_PTRACE; record outside of it"
    )]
    NoMechanism(io::Error),
    /// The mechanism that was asked for cannot be used.
    #[error("{mechanism} cannot be used here: {why}")]
    Unavailable {
        /// Its name.
        mechanism: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The process may not be watched.
    #[error(
        "process {process} may not be watched by this user ({error}); run as root, or as its \
         user where kernel.yama.ptrace_scope is 0"
    )]
    MayNot {
        /// Which.
        process: u32,
        /// What the kernel said.
        error: io::Error,
    },
    /// A system call failed.
    #[error("recording failed while {doing}: {error}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// What the kernel said.
        error: io::Error,
    },
}

impl Error {
    /// Whether the user asked for what is not there.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::CannotRun { .. }
                | Self::NoProgram { .. }
                | Self::IsDirectory { .. }
                | Self::NoProcess(_)
        )
    }
}

/// What was being done when a system call failed.
pub(crate) fn while_(doing: &'static str) -> impl Fn(io::Error) -> Error {
    move |error| Error::System { doing, error }
}
