//! A server or a program under its keeper, as seen from this process.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::ending::wait_until;
use crate::supervisor::{self, Moments};

/// How long the keeper is waited for: what it takes, and a little.
const PATIENCE: Duration = supervisor::ENDING_MAX.saturating_add(Duration::from_millis(400));
/// Its exit follows the end of what it tells.
const EXIT_PATIENCE: Duration = Duration::from_millis(500);
/// Between two looks at whether the run was told to end.
const LOOK: Duration = Duration::from_millis(50);

/// What came of waiting for the end of all that is kept.
pub(super) enum Waited {
    Ended(ExitStatus),
    Stopped,
    TooLong,
}

/// A keeper, and all that it keeps.
#[derive(Debug)]
pub(super) struct Supervised {
    supervisor: Child,
    /// Open at this end for as long as what is kept should live.
    lifeline: UnixStream,
    moments: Arc<Moments>,
}

impl Supervised {
    /// Starts a command; `alone`, it is over once its first process is.
    pub(super) fn spawn(command: &mut Command, alone: bool) -> io::Result<Self> {
        let (supervisor, lifeline, moments) = supervisor::spawn(command, alone)?;
        Ok(Self { supervisor, lifeline, moments })
    }

    /// When it began and ended, once it has.
    pub(super) fn moments(&self) -> &Moments {
        &self.moments
    }

    pub(super) fn supervisor(&self) -> i32 {
        self.supervisor.id().cast_signed()
    }

    pub(super) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.supervisor.stderr.take()
    }

    pub(super) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.supervisor.stdout.take()
    }

    /// Waits until it and all that it started have ended by themselves: the keeper's end of
    /// the socket closes then, so that nobody has to look again and again.
    pub(super) fn await_end(&mut self, deadline: Instant, stop: &AtomicBool) -> io::Result<Waited> {
        self.lifeline.set_read_timeout(Some(LOOK))?;
        loop {
            match (&self.lifeline).read(&mut [0; 1]) {
                // Nothing is told of those that end by themselves.
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
                Err(error) if is_no_end(&error) => {}
                Err(error) => return Err(error),
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(Waited::Stopped);
            }
            if Instant::now() >= deadline {
                return Ok(Waited::TooLong);
            }
        }
        let ended = wait_until(&mut self.supervisor, Instant::now() + EXIT_PATIENCE);
        ended.map_or(Ok(Waited::TooLong), |status| status.map(Waited::Ended))
    }

    /// How the server ended, if it and all that it started have.
    pub(super) fn try_wait(&mut self) -> Option<ExitStatus> {
        self.supervisor.try_wait().ok().flatten()
    }

    /// Ends all, and says what could not be ended, a process a line. The time is
    /// bounded.
    pub(super) fn end(&mut self) -> Vec<String> {
        // It fails where the keeper is gone already.
        let _ = self.lifeline.shutdown(Shutdown::Write);
        let pid = self.supervisor();
        let (mut left, told_all) = self.told();
        if !told_all {
            // Stopped, perhaps; what it kept is then nobody's.
            let _ = self.supervisor.kill();
        }
        let status = wait_until(&mut self.supervisor, Instant::now() + EXIT_PATIENCE);
        let signal = status.and_then(Result::ok).and_then(|status| status.signal());
        if !told_all || signal.is_some() {
            left.push(format!(
                "process {pid} (server-keeper), which stops what the command started, was killed \
                 before it could; look with `ps -e f` for what is left of it, and kill that"
            ));
        }
        left
    }

    /// What the keeper tells until it ends, and whether that was within its time.
    fn told(&self) -> (Vec<String>, bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut lines = Vec::new();
        let mut reader = BufReader::new(&self.lifeline);
        loop {
            let time_left = deadline.saturating_duration_since(Instant::now());
            if time_left.is_zero() || self.lifeline.set_read_timeout(Some(time_left)).is_err() {
                return (lines, false);
            }
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) => return (lines, true),
                Ok(_) => lines.push(line.trim_end().to_owned()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A keeper that was killed resets the connection.
                Err(error) => return (lines, error.kind() == io::ErrorKind::ConnectionReset),
            }
        }
    }
}

/// Whether a reading only took its time.
fn is_no_end(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
