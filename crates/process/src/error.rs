//! Why a process could not be started, or did not do what it should.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a process could not be started, or did not do what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program that a worker should run is not there.
    #[error("{program} is not installed; {remedy}")]
    NotInstalled {
        /// The program.
        program: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A confined child or thread could not be started, or not waited for.
    #[error("cannot start a process to read it in: {0}")]
    NoChild(io::Error),
    /// A confined child ended without an answer.
    #[error(
        "the process that was reading it ended before it was done ({0}); if the kernel killed it \
         for want of memory (dmesg says so), free some memory and try again"
    )]
    ChildEnded(ExitStatus),
    /// The program that a worker should run is not root's, and root would run it.
    #[error(
        "{} was not run: {why}, and as root, iotoll runs no program that other users can change; \
         put a root-owned directory that contains {program} first in PATH, or run iotoll as \
         another user",
        path.display()
    )]
    Untrusted {
        /// The program.
        program: &'static str,
        /// Where it was found.
        path: PathBuf,
        /// Who may change what.
        why: String,
    },
    /// A worker could not be started.
    #[error("cannot start {worker} as a worker: {source}")]
    WorkerNotStarted {
        /// What should have been started.
        worker: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A worker could not do its work, ended before it was done, said nothing for too long, could
    /// not be read from or written to, or broke the protocol.
    #[error("{0}")]
    WorkerFailed(String),
    /// The run was told to end.
    #[error("stopped")]
    Stopped,
    /// No port could be reserved.
    #[error("cannot reserve a port: {source}")]
    Port {
        /// What the system said.
        source: io::Error,
    },
    /// A command did not come to its end, or a server's ended, or never listened.
    #[error("{what}: {why}{}", stderr_shown(.stderr))]
    Command {
        /// The command: "server command `httpd -p 8080`".
        what: String,
        /// What went wrong.
        why: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// A server's command was not started, or it or what it started could not be ended; or a
    /// process that runs already cannot be watched.
    #[error("{0}")]
    ServerFailed(String),
}

impl Error {
    /// That of a worker that does not follow the protocol.
    pub(crate) fn protocol(worker: &str, why: impl std::fmt::Display) -> Self {
        Self::WorkerFailed(format!("{worker} broke the workers' protocol: {why}"))
    }
}

fn stderr_shown(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::from(" (it wrote nothing to standard error)");
    }
    format!("; its standard error ends with:\n  {}", lines.join("\n  "))
}
