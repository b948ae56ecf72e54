//! Strategies of appending that gather records and write many at once.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::fdatasync;
use rustix::io::writev;

use super::append::{APPENDING, Append, SYNCING, Taken};
use super::records::Records;
use crate::file::write_whole;

/// A buffer in user space that is written whenever it is full, wherever that
/// falls: a record that does not fit is split, as C's stdio and PHP 7's 8 KiB
/// chunks split it. Another writer's buffer may come between its halves.
pub(super) struct Buffered {
    file: OwnedFd,
    records: Arc<Records>,
    buffer: Vec<u8>,
    capacity: usize,
    calls: u64,
}

impl Buffered {
    pub(super) fn new(file: OwnedFd, records: Arc<Records>, capacity: usize) -> Self {
        Self { file, records, buffer: Vec::with_capacity(capacity), capacity, calls: 0 }
    }

    fn write_out(&mut self) -> Result<(), StudyError> {
        if !self.buffer.is_empty() {
            write_whole(&self.file, &self.buffer, APPENDING)?;
            self.calls += 1;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl Append for Buffered {
    fn append(&mut self, index: usize, _: &mut SliceTimer) -> Result<Taken, StudyError> {
        let records = Arc::clone(&self.records);
        let mut rest = records.get(index);
        while !rest.is_empty() {
            let room = self.capacity - self.buffer.len();
            let (fits, left) = rest.split_at(room.min(rest.len()));
            self.buffer.extend_from_slice(fits);
            rest = left;
            if self.buffer.len() == self.capacity {
                self.write_out()?;
            }
        }
        Ok(Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        self.write_out()?;
        fdatasync(&self.file).doing(SYNCING)
    }

    fn finish(&mut self, _: &mut SliceTimer) -> Result<(), StudyError> {
        self.write_out()
    }

    fn calls(&self) -> Option<u64> {
        Some(self.calls)
    }
}

/// So many whole records in one writev(2).
pub(super) struct Batched {
    file: OwnedFd,
    records: Arc<Records>,
    pending: std::ops::Range<usize>,
    batch: usize,
    calls: u64,
}

impl Batched {
    pub(super) fn new(file: OwnedFd, records: Arc<Records>, batch: usize) -> Self {
        Self { file, records, pending: 0..0, batch, calls: 0 }
    }

    fn write_out(&mut self) -> Result<(), StudyError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let slices: Vec<IoSlice<'_>> =
            self.pending.clone().map(|index| IoSlice::new(self.records.get(index))).collect();
        let wanted = slices.iter().map(|slice| slice.len()).sum();
        let written = writev(&self.file, &slices).doing(APPENDING)?;
        self.calls += 1;
        self.pending.start = self.pending.end;
        if written == wanted {
            Ok(())
        } else {
            Err(StudyError::Short { doing: APPENDING, written, wanted })
        }
    }
}

impl Append for Batched {
    fn append(&mut self, index: usize, _: &mut SliceTimer) -> Result<Taken, StudyError> {
        self.pending.end = index + 1;
        if self.pending.len() < self.batch {
            return Ok(Taken::Pending);
        }
        self.write_out()?;
        Ok(Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        self.write_out()?;
        fdatasync(&self.file).doing(SYNCING)
    }

    fn finish(&mut self, _: &mut SliceTimer) -> Result<(), StudyError> {
        self.write_out()
    }

    fn calls(&self) -> Option<u64> {
        Some(self.calls)
    }
}
