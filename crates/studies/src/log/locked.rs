//! Strategies of appending that hold a lock around each write(2).
//!
//! Syncing comes after the lock is given back: others need not wait for it.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::{FlockOperation, fdatasync, flock};
use rustix::io::{Errno, retry_on_intr};

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
    fn lock(&self, kind: libc::c_int) -> Result<(), Errno> {
        let request = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 0,
            l_pid: 0,
        };
        retry_on_intr(|| {
            // SAFETY: the descriptor is open, and the call reads the struct
            // that it is given and keeps no pointer to it.
            let answer = unsafe {
                libc::fcntl(self.file.as_raw_fd(), libc::F_OFD_SETLKW, &raw const request)
            };
            let failed = || Errno::from_io_error(&std::io::Error::last_os_error());
            if answer == 0 { Ok(()) } else { Err(failed().unwrap_or(Errno::INVAL)) }
        })
    }
}

impl Append for OfdLock {
    fn append(&mut self, index: usize, timer: &mut SliceTimer) -> Result<Taken, StudyError> {
        timer.lock(|| self.lock(libc::F_WRLCK)).doing(LOCKING)?;
        let written = write_whole(&self.file, self.records.get(index), APPENDING);
        self.lock(libc::F_UNLCK).doing(UNLOCKING)?;
        written.map(|()| Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn calls_per_record(&self) -> f64 {
        3.0
    }
}
