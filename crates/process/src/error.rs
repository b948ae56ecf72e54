//! Why a process could not be started, or did not do what it should.

use std::io;

/// Why a process could not be started, or did not do what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program that a worker should run is not there, or is not root's, and root would run it.
    #[error("{0}")]
    Unsuited(String),
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
    /// A server's command was not started, or it or what it started could not be ended; a port
    /// could not be reserved; a process that runs already cannot be watched; or a confined child
    /// or thread was not started, or ended without an answer.
    #[error("{0}")]
    Failed(String),
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
