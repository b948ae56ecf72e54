//! Workers as processes: started in a process group of their own, so that the
//! terminal's Ctrl-C reaches the run and not them, and ended with their parent,
//! however it ends. They begin in the root directory and with little of the
//! environment; where their files are, their assignment says.

use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use sys::start::end_with_parent;

use crate::Error;
use crate::ending::wait_until;
use crate::isolation::{find, isolate, not_installed};
use crate::left::leave_behind;

/// How long a process may take to die that was killed: one that waits for storage may
/// take for ever.
pub(crate) const DYING_MAX: Duration = Duration::from_millis(2500);
/// How long one may take to exit that has closed its output.
const EXITING_MAX: Duration = Duration::from_secs(2);

/// A program that follows the workers' protocol on its standard input and output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// What to run: a path, or a name that is looked up in `PATH`.
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

    /// This very program, as the process that runs slices.
    pub const SLICES: Self = Self { args: &["__slices"], ..Self::OURSELVES };

    /// This very program, as the process that holds a private view of the files.
    pub const VIEW: Self = Self { args: &["__view"], ..Self::OURSELVES };

    /// What messages call its processes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OURSELVES => "a worker process",
            Self::SLICES => "the process that runs slices",
            Self::VIEW => "the process that holds the private view of the files",
            _ => self.command,
        }
    }
}

/// A worker process. Dropping it ends it.
pub(crate) struct ChildProcess {
    pub(crate) program: Program,
    child: Child,
    /// It was waited for, or that was given up.
    is_over: bool,
}

impl ChildProcess {
    /// Starts a program with these pipes as its standard input and output.
    pub(super) fn start(
        program: Program,
        reader: PipeReader,
        writer: PipeWriter,
    ) -> Result<Self, Error> {
        let path = find(program.command, program.install).map_err(Error::Unsuited)?;
        let mut command = Command::new(path);
        isolate(&mut command);
        command.args(program.args).process_group(0);
        command.stdin(reader).stdout(writer).stderr(Stdio::inherit());
        Self::spawn(program, command)
    }

    /// Starts a program by a command that is complete but for how it ends.
    pub(crate) fn spawn(program: Program, mut command: Command) -> Result<Self, Error> {
        // Workers are started by the thread that measures, which is the process's first.
        end_with_parent(&mut command);
        let child = command.spawn().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                Error::Unsuited(not_installed(program.command, program.install))
            }
            _ => Error::WorkerNotStarted { worker: program.command, source },
        })?;
        Ok(Self { program, child, is_over: false })
    }

    /// How the process ended, in words, once it has closed its output.
    pub(crate) fn exit_description(&mut self) -> String {
        match wait_until(&mut self.child, Instant::now() + EXITING_MAX) {
            Some(Ok(status)) => described(status),
            Some(Err(error)) => format!("could not be waited for: {error}"),
            None => "closed its output and did not exit".to_owned(),
        }
    }

    /// Sends it a signal; nothing where it has ended.
    pub(crate) fn signal(&mut self, signal: Signal) {
        // Its id is its own until it has been waited for.
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Whether it ends by itself within that time.
    pub(crate) fn ends_until(&mut self, deadline: Instant) -> bool {
        wait_until(&mut self.child, deadline).is_some()
    }

    /// Tells the process to end at once, in the middle of whatever it does, with all in
    /// its process group.
    pub(crate) fn kill(&mut self) {
        // Its id is its own, and the group's, until it has been waited for.
        if let Ok(None) = self.child.try_wait() {
            // It may have ended by itself meanwhile, which is as good.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        }
    }

    /// Waits for the end of one that was killed. One that does not die is told of, and
    /// not waited for again.
    pub(crate) fn bury(&mut self, deadline: Instant) {
        let is_over = std::mem::replace(&mut self.is_over, true);
        if !is_over && wait_until(&mut self.child, deadline).is_none() {
            let (pid, name) = (self.child.id(), self.program.name());
            leave_behind(format!(
                "process {pid} ({name}) was killed but has not exited: it is blocked in the \
                 kernel, perhaps on storage that does not respond, and will exit once that does"
            ));
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill();
        self.bury(Instant::now() + DYING_MAX);
    }
}

fn described(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGXFSZ) => {
            "was killed by SIGXFSZ: a limit on file sizes is in force: see `ulimit -f`".to_owned()
        }
        Some(libc::SIGKILL) => "was killed; the machine may be out of memory".to_owned(),
        Some(libc::SIGTERM) => "was told to end by a signal (SIGTERM)".to_owned(),
        _ => format!("exited early ({status})"),
    }
}
