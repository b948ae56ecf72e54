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
    /// A worker ended before its work was done.
    #[error("{worker} {how}")]
    WorkerEnded {
        /// The worker.
        worker: &'static str,
        /// How it ended: "was killed", "exited early".
        how: String,
    },
    /// A worker could not do its work.
    #[error("{0}")]
    WorkerFailed(String),
    /// A worker sent nothing for too long.
    #[error("a worker sent nothing for {seconds} s and was ended")]
    WorkerSilent {
        /// For how long.
        seconds: u64,
    },
    /// The messages of a worker could not be read.
    #[error("cannot read from {worker}: {source}")]
    Receive {
        /// The worker.
        worker: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A worker could not be sent anything.
    #[error("cannot write to {worker}: {source}")]
    Send {
        /// The worker.
        worker: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A message does not follow the protocol.
    #[error("{worker} broke the workers' protocol: {why}")]
    Protocol {
        /// The worker.
        worker: &'static str,
        /// What is wrong with the message.
        why: String,
    },
    /// The run was told to end.
    #[error("stopped")]
    Stopped,
    /// No port could be reserved.
    #[error("cannot reserve a port: {source}")]
    Port {
        /// What the system said.
        source: io::Error,
    },
    /// A command did not come to its end.
    #[error("command `{command}`: {why}{}", stderr_shown(.stderr))]
    Program {
        /// The command, as it was given.
        command: String,
        /// What went wrong.
        why: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// A server's command was not started.
    #[error("server command `{command}`: {why}")]
    ServerNotStarted {
        /// The command after `{port}` was filled in.
        command: String,
        /// What kept it from being started.
        why: String,
    },
    /// A server ended, or never listened.
    #[error("server command `{command}`: {why}{}", stderr_shown(.stderr))]
    Server {
        /// The command after `{port}` was filled in.
        command: String,
        /// What went wrong.
        why: String,
        /// The last lines of its standard error.
        stderr: Vec<String>,
    },
    /// A server, or something that it started, could not be ended.
    #[error("server command `{command}`: it could not be ended: {}", .left.join("; "))]
    ServerLeft {
        /// The command after `{port}` was filled in.
        command: String,
        /// What is left, a process each, with why and what to do.
        left: Vec<String>,
    },
    /// A process that runs already cannot be watched.
    #[error("server process {pid}: {why}")]
    ServerPid {
        /// The id as given.
        pid: i32,
        /// What is wrong.
        why: String,
    },
}

fn stderr_shown(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::from(" (it wrote nothing to standard error)");
    }
    format!("; its standard error ends with:\n  {}", lines.join("\n  "))
}
