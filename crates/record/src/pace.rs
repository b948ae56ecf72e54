//! How often a ring is looked at that is written to without waking anyone.

use std::io;
use std::time::{Duration, Instant};

use host::process::is_alive;
use host::root::Root;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::error::{Error, while_};
use crate::followed::Followed;
use crate::raw_call::Sink;
use crate::start::Held;
use sys::wait::wait;

/// How large a ring is if there is the memory: it has room for 800,000 calls.
pub(crate) const RING_BYTES: usize = 64 << 20;
/// How long a ring of that size is left alone. Reading it takes processor time, which is missing to
/// a program that keeps all processors busy. So the calls of a short program are read after its end.
const REST_MS: usize = 100;
/// After so long without an event, what is not written yet is.
const IDLE: Duration = Duration::from_secs(1);

/// How long to leave a ring alone.
pub(crate) struct Pace {
    rest: Duration,
    /// With so much in the ring there is no rest.
    busy_bytes: u64,
    quiet_since: Instant,
}

impl Pace {
    /// The pace for a ring of `ring_bytes`. A smaller ring fills up sooner, so it rests less.
    pub(crate) fn new(ring_bytes: usize) -> Self {
        let rest = Duration::from_millis((REST_MS * ring_bytes / RING_BYTES) as u64);
        Self { rest, busy_bytes: ring_bytes as u64 / 4, quiet_since: Instant::now() }
    }

    /// How long to rest after `bytes` were read.
    pub(crate) fn after(&mut self, bytes: u64) -> Duration {
        if bytes > 0 {
            self.quiet_since = Instant::now();
        }
        if bytes < self.busy_bytes { self.rest } else { Duration::ZERO }
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

/// Starts a command and reads its ring of `ring_bytes` until the command ends or reading fails.
/// Returns how the command ended, and why no more can be read.
pub(crate) fn until_end<S: Sink>(
    mut held: Held,
    ring_bytes: usize,
    sink: &mut S,
    mut drain: impl FnMut(&mut S) -> io::Result<u64>,
) -> Result<Followed, Error> {
    let first = held.process();
    let ended = Doorbell::of(first);
    held.release().map_err(while_("starting the command"))?;
    let (mut end, mut cut) = (None, None);
    let mut pace = Pace::new(ring_bytes);
    let mut rest = pace.after(0);
    while end.is_none() && cut.is_none() {
        ended.wait(rest);
        end = wait(Some(first), true).map_err(while_("waiting for the command"))?;
        // What it did before its end is in the ring by now.
        match drain(sink) {
            Ok(bytes) if end.is_none() => {
                rest = pace.after(bytes);
                cut = pace.is_idle().then(|| sink.idle().err()).flatten();
            }
            Ok(_) => {}
            Err(error) => cut = Some(error),
        }
    }
    Ok(Followed { end, cut })
}
