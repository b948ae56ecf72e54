//! How often a ring is looked at that is written to without waking anyone.

use std::io;
use std::time::{Duration, Instant};

use host::process::is_alive;
use host::root::Root;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::{Error, while_};
use crate::raw_call::Sink;
use crate::start::Held;
use sys::wait::{Waited, Whom, wait};

/// How long the ring is left alone while something is written to it, and when it is quiet. Where
/// there are few processors, to wake up slows whatever runs: a thousand times a second by 6%.
const REST_MIN: Duration = Duration::from_millis(4);
const REST_MAX: Duration = Duration::from_millis(32);
/// After so long without an event, what is not written yet is.
const IDLE: Duration = Duration::from_secs(1);
/// With so much in the ring there is no rest.
const BUSY_BYTES: u64 = 1 << 20;

/// How long to leave the ring alone.
pub(crate) struct Pace {
    rest: Duration,
    quiet_since: Instant,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self { rest: REST_MIN, quiet_since: Instant::now() }
    }

    pub(crate) fn after(&mut self, bytes: u64) -> Duration {
        if bytes > 0 {
            self.quiet_since = Instant::now();
        }
        self.rest = match bytes {
            0 => (self.rest * 2).min(REST_MAX),
            BUSY_BYTES.. => return Duration::ZERO,
            _ => REST_MIN,
        };
        self.rest
    }

    /// Whether nothing has happened for so long, once each time.
    pub(crate) fn is_idle(&mut self) -> bool {
        let idle = self.quiet_since.elapsed() > IDLE;
        if idle {
            self.quiet_since = Instant::now();
        }
        idle
    }
}

/// Waits, and no longer than a process lives.
pub(crate) struct Doorbell {
    process: i32,
    descriptor: Option<OwnedFd>,
}

impl Doorbell {
    pub(crate) fn of(process: u32) -> Self {
        let process = process.cast_signed();
        let open = |pid| pidfd_open(pid, PidfdFlags::empty()).ok();
        Self { process, descriptor: Pid::from_raw(process).and_then(open) }
    }

    /// Whether the process has ended.
    pub(crate) fn wait(&self, at_most: Duration) -> bool {
        let Some(descriptor) = &self.descriptor else {
            std::thread::sleep(at_most);
            return !is_alive(&Root::real(), self.process);
        };
        let mut fds = [PollFd::new(descriptor, PollFlags::IN)];
        let timeout = Timespec::try_from(at_most).ok();
        poll(&mut fds, timeout.as_ref()).is_ok_and(|ready| ready > 0)
    }
}

/// Starts a command and reads its ring until it has ended or that fails: how it has ended, and
/// why no more can be read.
pub(crate) fn until_end<S: Sink>(
    mut held: Held,
    sink: &mut S,
    mut drain: impl FnMut(&mut S) -> io::Result<u64>,
) -> Result<(Option<Waited>, Option<io::Error>), Error> {
    let first = held.process();
    let ended = Doorbell::of(first);
    held.release().map_err(while_("starting the command"))?;
    let (mut end, mut cut) = (None, None);
    let mut pace = Pace::new();
    while end.is_none() && cut.is_none() {
        end = wait(Whom::One(first), true).map_err(while_("waiting for the command"))?;
        // What it did before its end is in the ring by now.
        match drain(sink) {
            Ok(bytes) if end.is_none() => {
                ended.wait(pace.after(bytes));
                cut = pace.is_idle().then(|| sink.idle().err()).flatten();
            }
            Ok(_) => {}
            Err(error) => cut = Some(error),
        }
    }
    Ok((end, cut))
}
