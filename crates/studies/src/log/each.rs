//! Strategies that take one write(2) for each record, without a lock.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::{OFlags, SeekFrom, fdatasync, seek};

use super::append::{APPENDING, Append, OPENING, SYNCING, Taken};
use super::records::Records;
use crate::file::{open_for_writing, write_whole};

/// A handle that is kept open, with one write(2) a record.
pub(super) struct Held {
    pub(super) file: OwnedFd,
    pub(super) records: Arc<Records>,
    pub(super) calls: Calls,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Calls {
    Write,
    SeekAndWrite,
}

impl Append for Held {
    #[inline]
    fn append(&mut self, index: usize, _: &mut SliceTimer) -> Result<Taken, StudyError> {
        if self.calls == Calls::SeekAndWrite {
            seek(&self.file, SeekFrom::End(0)).doing("seeking the end of the log")?;
        }
        write_whole(&self.file, self.records.get(index), APPENDING)?;
        Ok(Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn calls_per_record(&self) -> f64 {
        if self.calls == Calls::Write { 1.0 } else { 2.0 }
    }
}

/// Opens, writes and closes for every record. To sync it opens once more, as
/// whoever comes later must.
pub(super) struct Reopen {
    pub(super) folder: OwnedFd,
    pub(super) name: CString,
    pub(super) records: Arc<Records>,
}

impl Append for Reopen {
    fn append(&mut self, index: usize, _: &mut SliceTimer) -> Result<Taken, StudyError> {
        let file = open_for_writing(&self.folder, &self.name, OFlags::APPEND).doing(OPENING)?;
        write_whole(&file, self.records.get(index), APPENDING)?;
        Ok(Taken::Acknowledged)
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        let file = open_for_writing(&self.folder, &self.name, OFlags::APPEND).doing(OPENING)?;
        fdatasync(&file).doing(SYNCING)
    }

    fn calls_per_record(&self) -> f64 {
        3.0
    }
}
