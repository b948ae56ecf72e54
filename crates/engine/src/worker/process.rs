//! Workers as processes: started in a process group of their own, so that the
//! terminal's Ctrl-C reaches the run and not them, and ended with their parent,
//! however it ends.

use std::io::{self, BufReader, PipeReader};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::study::{StudyError, advice};

/// A program that speaks the workers' protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// What to run, looked up in `PATH`.
    pub command: &'static str,
    /// Its arguments.
    pub args: &'static [&'static str],
    /// What to do where it is not installed.
    pub install: &'static str,
}

impl Program {
    /// This very program, as a worker.
    pub const OURSELVES: Self =
        Self { command: "/proc/self/exe", args: &["__worker"], install: "mount /proc" };
}

/// A worker process, with the pipes to talk to it.
pub(super) struct Process {
    pub(super) child: Child,
    pub(super) to: ChildStdin,
    pub(super) from: BufReader<PipeReader>,
}

impl Process {
    /// Starts a program as a worker.
    pub(super) fn start(program: Program) -> Result<Self, StudyError> {
        let name = program.command;
        let fail = |error: io::Error| {
            if error.kind() == io::ErrorKind::NotFound {
                return StudyError::Unsuited(format!(
                    "{name} is not installed; {}",
                    program.install
                ));
            }
            let advice = advice(&error);
            StudyError::Worker(format!("starting {name} as a worker: {error}{advice}"))
        };
        let (from, theirs) = io::pipe().map_err(fail)?;
        let mut command = Command::new(name);
        command.args(program.args).process_group(0);
        command.stdin(Stdio::piped()).stdout(theirs).stderr(Stdio::inherit());
        // SAFETY: between fork and exec the closure makes one system call and
        // touches no memory that a lock might guard.
        unsafe {
            command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        let mut child = command.spawn().map_err(fail)?;
        let Some(to) = child.stdin.take() else { unreachable!("the pipe was asked for") };
        Ok(Self { child, to, from: BufReader::new(from) })
    }

    /// How the process ended, in words, once it has gone quiet.
    pub(super) fn epitaph(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => ended(status),
            Err(error) => format!("could not be waited for: {error}"),
        }
    }

    /// Ends the process at once, in the middle of whatever it does.
    pub(super) fn kill(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn ended(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGXFSZ) => {
            "was ended by SIGXFSZ: a limit on file sizes is in force: see `ulimit -f`".to_owned()
        }
        Some(libc::SIGKILL) => "was killed; the machine may be out of memory".to_owned(),
        _ => format!("ended early ({status})"),
    }
}
