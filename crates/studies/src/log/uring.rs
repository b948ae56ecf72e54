//! Appending through `io_uring`: records are put on a ring and handed to the
//! kernel so many at a time, in one system call.
//!
//! Entries that are linked wait for those before them, so that a writer's
//! records keep their order; entries that are not may be done in any order.
#![expect(unsafe_code, reason = "the kernel reads the study's own records until it has answered")]

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use io_uring::{IoUring, opcode, squeue, types};
use rustix::fs::fdatasync;

use super::append::{APPENDING, Append, SYNCING, Taken};
use super::records::Records;
use super::work::Work;
use crate::ring;

/// "At the file's own position", which for `O_APPEND` is its end.
const AT_POSITION: u64 = u64::MAX;

/// A ring, and what is on it.
pub(super) struct Uring {
    ring: IoUring,
    file: OwnedFd,
    records: Arc<Records>,
    batch: usize,
    linked: bool,
    /// Entries pushed and not yet answered.
    pending: usize,
    calls: u64,
}

impl Uring {
    pub(super) fn new(
        file: OwnedFd,
        records: Arc<Records>,
        work: &Work,
    ) -> Result<Self, StudyError> {
        let ring = IoUring::new(work.batch.next_power_of_two() as u32).map_err(ring::refused)?;
        let batch = work.batch as usize;
        Ok(Self { ring, file, records, batch, linked: work.linked, pending: 0, calls: 0 })
    }

    fn push(&mut self, index: usize) {
        let record = self.records.get(index);
        let file = types::Fd(self.file.as_raw_fd());
        let last = self.pending + 1 == self.batch;
        let linked = self.linked && !last;
        let flags = if linked { squeue::Flags::IO_LINK } else { squeue::Flags::empty() };
        let write = opcode::Write::new(file, record.as_ptr(), record.len() as u32)
            .offset(AT_POSITION)
            .build()
            .flags(flags)
            .user_data(record.len() as u64);
        // SAFETY: the record and the descriptor live in `self` until the entry
        // is answered: `submit` waits for all answers, and so does `drop`.
        let pushed = unsafe { self.ring.submission().push(&write) };
        assert!(pushed.is_ok(), "the ring has room for a batch, and is emptied at each");
        self.pending += 1;
    }

    /// Submits what is on the ring and waits for all answers.
    fn submit(&mut self) -> Result<(), StudyError> {
        if self.pending == 0 {
            return Ok(());
        }
        let mut outcome = Ok(());
        while self.pending > 0 {
            self.calls += 1;
            match self.ring.submit_and_wait(self.pending) {
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => continue,
                answer => answer.map_err(ring::refused)?,
            };
            for answer in self.ring.completion() {
                self.pending -= 1;
                let (wanted, result) = (answer.user_data() as usize, answer.result());
                if usize::try_from(result) != Ok(wanted) && outcome.is_ok() {
                    outcome = Err(failed(result, wanted));
                }
            }
        }
        outcome
    }
}

/// What an answer means that is not the record's length.
fn failed(result: i32, wanted: usize) -> StudyError {
    if let Ok(written) = usize::try_from(result) {
        return StudyError::Short { doing: APPENDING, written, wanted };
    }
    StudyError::Io { doing: APPENDING, source: std::io::Error::from_raw_os_error(-result) }
}

impl Append for Uring {
    fn append(&mut self, index: usize, _: &mut SliceTimer) -> Result<Taken, StudyError> {
        self.push(index);
        if self.pending < self.batch {
            return Ok(Taken::Pending);
        }
        self.submit()?;
        Ok(Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        self.submit()?;
        fdatasync(&self.file).doing(SYNCING)
    }

    fn finish(&mut self, _: &mut SliceTimer) -> Result<(), StudyError> {
        self.submit()
    }

    fn calls(&self) -> Option<u64> {
        Some(self.calls)
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // Entries that the kernel still works on point into the records.
        let _ = self.submit();
    }
}
