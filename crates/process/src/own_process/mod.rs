//! A process of this program, started again by exec, that works for this one.
//!
//! It has one thread and a memory layout of its own, and ends with its parent. It takes its
//! instructions from the socket that its parent started it with and from nowhere else.

mod channel;

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::net::AddressFamily;
use rustix::net::sockopt::{socket_domain, socket_peercred};
use rustix::process::{Signal, getppid};
use rustix::stdio::{dup2_stdin, stdin};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::channel::Channel;
use crate::worker::{ChildProcess, DYING_MAX, Program};
use crate::{Error, StopFlag};

/// How often to look whether the run should end.
const STOP_CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long a process may take to end its work once it was asked to, the time included in
/// which a server may stop that it started.
const STOPPING_MAX: Duration = Duration::from_secs(4);
/// How long one may take to exit that has nothing more to do.
const EXITING_MAX: Duration = Duration::from_secs(4);

/// The process, as its parent has it. Dropping it ends it.
pub struct OwnProcess {
    /// Nothing once it was closed.
    channel: Option<Channel>,
    child: ChildProcess,
}

impl OwnProcess {
    /// Starts this program again as a hidden command.
    ///
    /// # Errors
    /// Where that cannot be done.
    pub fn start(program: Program) -> Result<Self, Error> {
        let name = program.name();
        let not_started = |source| Error::WorkerNotStarted { worker: name, source };
        let [ours, theirs] = Channel::pair().map_err(not_started)?;
        let mut command = Command::new(program.command);
        command.args(program.args).process_group(0);
        command.stdin(theirs.into_socket()).stdout(Stdio::null()).stderr(Stdio::inherit());
        let child = ChildProcess::spawn(program, command)?;
        Ok(Self { channel: Some(ours), child })
    }

    /// Sends a message. A process that has gone is noticed on receiving, which knows how it
    /// ended.
    ///
    /// # Errors
    /// Where it cannot be sent.
    pub fn send(
        &mut self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), Error> {
        let worker = self.child.program.name();
        let Some(channel) = &mut self.channel else { return Ok(()) };
        match channel.send(message, descriptors) {
            Err(error) if is_gone(&error) => Ok(()),
            sent => sent.map_err(|e| Error::WorkerFailed(format!("cannot write to {worker}: {e}"))),
        }
    }

    /// Waits for its answer. Once `stop` is raised the process is asked to end its work, and
    /// killed where it does not answer within seconds.
    ///
    /// # Errors
    /// Where it ended, or broke the protocol; and where the run was told to end and the process
    /// did not answer.
    pub fn receive<T: DeserializeOwned>(&mut self, stop: &StopFlag) -> Result<T, Error> {
        let mut stopping: Option<Instant> = None;
        loop {
            if self.is_readable() {
                return match self.take() {
                    Err(_) if stopping.is_some() => Err(Error::Stopped),
                    answer => answer,
                };
            }
            match stopping {
                None if stop.load(Ordering::Relaxed) => {
                    self.child.signal(Signal::TERM);
                    stopping = Some(Instant::now());
                }
                Some(since) if since.elapsed() > STOPPING_MAX => {
                    self.kill();
                    return Err(Error::Stopped);
                }
                _ => {}
            }
        }
    }

    /// Waits a little for an answer. An interrupted wait is begun again, as one that timed
    /// out is.
    fn is_readable(&self) -> bool {
        let Some(channel) = &self.channel else { return true };
        let mut fds = [PollFd::from_borrowed_fd(channel.fd(), PollFlags::IN)];
        poll(&mut fds, Some(&STOP_CHECK)).unwrap_or(0) > 0
    }

    fn take<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let worker = self.child.program.name();
        let received = self.channel.as_mut().map_or(Ok(None), Channel::receive);
        match received {
            Ok(Some((message, _))) => Ok(message),
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                Err(Error::protocol(worker, error))
            }
            _ => Err(Error::WorkerFailed(format!("{worker} {}", self.child.exit_description()))),
        }
    }

    fn kill(&mut self) {
        self.child.kill();
        self.child.bury(Instant::now() + DYING_MAX);
    }
}

impl Drop for OwnProcess {
    /// It ends by itself once its socket is closed, and what it started with it.
    fn drop(&mut self) {
        drop(self.channel.take());
        if !self.child.ends_until(Instant::now() + EXITING_MAX) {
            self.kill();
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

/// This process's end of the socket, where its parent started it with one; nothing where
/// anybody else did.
pub fn parents_channel() -> Option<Channel> {
    let is_socket = socket_domain(stdin()).is_ok_and(|domain| domain == AddressFamily::UNIX);
    if !is_socket || socket_peercred(stdin()).ok().map(|peer| peer.pid) != getppid() {
        return None;
    }
    let socket = stdin().try_clone_to_owned().ok()?;
    // No program that is started from here reads the parent's instructions.
    let nothing = open(c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    dup2_stdin(nothing.as_fd()).ok()?;
    Some(Channel::over(UnixStream::from(socket)))
}
