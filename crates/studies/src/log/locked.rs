//! Strategies of appending that hold a lock around each write(2).
//!
//! Syncing comes after the lock is given back: others need not wait for it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::{FlockOperation, fdatasync, flock};
use rustix::io::retry_on_intr;
use sys::file_locks::{Kind, wait_for_whole};

use super::append::{APPENDING, Append, SYNCING, Taken};
use super::records::Records;
use crate::file::write_whole;

const LOCKING: &str = "locking the log";
const UNLOCKING: &str = "unlocking the log";

/// An exclusive flock(2). `O_NONBLOCK` on the descriptor, as PHP's non-blocking
/// streams set it, changes neither the lock nor the writes of a regular file.
pub(super) struct Flock {
    pub(super) file: OwnedFd,
    pub(super) records: Arc<Records>,
}

impl Append for Flock {
    fn append(&mut self, index: usize, timer: &mut SliceTimer) -> Result<Taken, StudyError> {
        let lock = |operation| retry_on_intr(|| flock(&self.file, operation));
        timer.lock(|| lock(FlockOperation::LockExclusive)).doing(LOCKING)?;
        let written = write_whole(&self.file, self.records.get(index), APPENDING);
        lock(FlockOperation::Unlock).doing(UNLOCKING)?;
        written.map(|()| Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn calls_per_record(&self) -> f64 {
        3.0
    }
}

/// An open file description lock of fcntl(2) on the whole file: unlike the older
/// fcntl locks it belongs to the descriptor, so that threads exclude one another
/// and closing another descriptor of the file does not give it up.
pub(super) struct OfdLock {
    pub(super) file: OwnedFd,
    pub(super) records: Arc<Records>,
}

impl OfdLock {
    fn lock(&self, kind: Kind) -> io::Result<()> {
        loop {
            match wait_for_whole(self.file.as_fd(), kind) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Append for OfdLock {
    fn append(&mut self, index: usize, timer: &mut SliceTimer) -> Result<Taken, StudyError> {
        timer.lock(|| self.lock(Kind::Write)).doing(LOCKING)?;
        let written = write_whole(&self.file, self.records.get(index), APPENDING);
        self.lock(Kind::Unlock).doing(UNLOCKING)?;
        written.map(|()| Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn calls_per_record(&self) -> f64 {
        3.0
    }
}
