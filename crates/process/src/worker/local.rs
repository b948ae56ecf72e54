//! One worker of this machine, told and heard message by message, by whoever has the
//! messages from elsewhere.

use std::time::Duration;

use host::clock::{Clock, ClockTold};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::kind::WorkerKind;
use super::message::ToWorker;
use super::pipe_worker::PipeWorker;
use super::protocol::{Assignment, FromWorker};
use crate::{Error, StopFlag};

/// A worker of this machine. Dropping it ends it, whatever it does.
pub struct LocalWorker {
    worker: PipeWorker,
    clock: ClockTold,
}

impl LocalWorker {
    /// Starts one, which times with this clock.
    pub fn start(kind: WorkerKind, clock: &Clock, stop: &StopFlag) -> Result<Self, Error> {
        Ok(Self { worker: PipeWorker::spawn(kind, stop)?, clock: clock.tell() })
    }

    /// Gives it work.
    pub fn assign(&mut self, assignment: &Assignment) -> Result<(), Error> {
        let assignment = Assignment::clone(assignment);
        self.worker.send(&ToWorker::Work { clock: self.clock, assignment })
    }

    /// Has it start when `CLOCK_MONOTONIC` shows so many nanoseconds.
    pub fn start_at(&mut self, monotonic_ns: u64) -> Result<(), Error> {
        self.worker.send(&ToWorker::Start(monotonic_ns))
    }

    /// Its next message, if that comes within so long, which is less than a second.
    pub fn receive_within(&mut self, patience: Duration) -> Result<Option<FromWorker>, Error> {
        if let Some(message) = self.worker.received() {
            return message.map(Some);
        }
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        let mut fds = [PollFd::from_borrowed_fd(self.worker.fd(), PollFlags::IN)];
        // An interrupted wait is as one that timed out.
        if poll(&mut fds, Some(&patience)).unwrap_or(0) > 0 {
            self.worker.take_in()?;
        }
        self.worker.received().transpose()
    }
}
