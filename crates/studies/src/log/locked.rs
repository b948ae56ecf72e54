//! Strategies of appending that hold a lock around each write(2).
//!
//! Syncing comes after the lock is given back: others need not wait for it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::FlockOperation::{LockExclusive, Unlock};
use rustix::fs::{fdatasync, flock};
use sys::file_locks::{Kind, wait_for_whole};

use super::append::{APPENDING, Append, SYNCING, Taken};
use super::records::Records;
use crate::file::write_whole;

const LOCKING: &str = "locking the log";
const UNLOCKING: &str = "unlocking the log";

/// A lock on the file around each write.
pub(super) struct Locked {
    pub(super) file: OwnedFd,
    pub(super) records: Arc<Records>,
    pub(super) by: By,
}

#[derive(Clone, Copy)]
pub(super) enum By {
    /// An exclusive flock(2). `O_NONBLOCK` on the descriptor, as PHP's non-blocking
    /// streams set it, changes neither the lock nor the writes of a regular file.
    Flock,
    /// An open file description lock of fcntl(2) on the whole file: unlike the older
    /// fcntl locks it belongs to the descriptor, so that threads exclude one another
    /// and closing another descriptor of the file does not give it up.
    OfdLock,
}

impl Locked {
    fn set(&self, kind: Kind) -> io::Result<()> {
        let operation = if kind == Kind::Unlock { Unlock } else { LockExclusive };
        loop {
            let done = match self.by {
                By::Flock => flock(&self.file, operation).map_err(io::Error::from),
                By::OfdLock => wait_for_whole(self.file.as_fd(), kind),
            };
            match done {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Append for Locked {
    fn append(&mut self, index: usize, timer: &mut SliceTimer) -> Result<Taken, StudyError> {
        timer.lock(|| self.set(Kind::Write)).doing(LOCKING)?;
        let written = write_whole(&self.file, self.records.get(index), APPENDING);
        self.set(Kind::Unlock).doing(UNLOCKING)?;
        written.map(|()| Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn calls_per_record(&self) -> f64 {
        3.0
    }
}
