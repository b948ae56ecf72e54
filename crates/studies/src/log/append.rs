//! What a way of appending must do, and the ways that take one write(2) a record.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use engine::recorder::Recorder;
use engine::study::{Doing, StudyError};
use rustix::fs::{OFlags, SeekFrom, fdatasync, seek};

use super::records::Records;
use super::spec::Strategy;
use super::work::Work;
use super::writer::Round;
use super::{gathered, locked, per_writer, queued, uring};
use crate::file::{open_for_writing, write_whole};

pub(crate) const APPENDING: &str = "appending to the log";
pub(crate) const OPENING: &str = "opening the log";
pub(crate) const SYNCING: &str = "forcing the log to the device";

/// What became of a record that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It and all before it are acknowledged.
    Acknowledged,
    /// It will be, with a later one.
    Pending,
    /// It was refused: the writer knows that it will not be in the log.
    Dropped,
}

/// A way of appending records to a log.
pub(crate) trait Append {
    /// Appends the writer's record of that number.
    fn append(&mut self, index: usize, recorder: &mut Recorder) -> Result<Taken, StudyError>;

    /// The loop over all records, one straight after the other. Here, though it
    /// is the same for all, for each way to be compiled into a loop of its own: a
    /// record costs some 300 ns, and may not wait for an indirect call.
    fn append_all(
        &mut self,
        round: &mut Round,
        recorder: &mut Recorder,
        acks: Option<&AtomicU64>,
    ) -> Result<u64, StudyError> {
        round.at_full_speed(self, recorder, acks)
    }

    /// Forces what was appended to the device.
    fn sync(&mut self) -> Result<(), StudyError>;

    /// Hands over what is still held back, as an application does before it ends.
    fn finish(&mut self, recorder: &mut Recorder) -> Result<(), StudyError> {
        let _ = recorder;
        Ok(())
    }

    /// Leaves beside the log what is needed afterwards, outside the clock.
    fn leave(&mut self) -> Result<(), StudyError> {
        Ok(())
    }

    /// System calls that a record takes, syncs aside, where that is a fixed number.
    fn calls_per_record(&self) -> f64 {
        1.0
    }

    /// System calls made so far, where it is not.
    fn calls(&self) -> Option<u64> {
        None
    }
}

/// Makes ready the way that the work names.
pub(crate) fn make(
    work: &Work,
    folder: &OwnedFd,
    records: &Arc<Records>,
) -> Result<Box<dyn Append>, StudyError> {
    let name = log_name(&work.stem);
    let open = |extra| open_for_writing(folder, &name, extra).doing(OPENING);
    let records = Arc::clone(records);
    let held = |extra, calls: Calls| {
        Ok::<_, StudyError>(Box::new(Held {
            file: open(extra)?,
            records: Arc::clone(&records),
            calls,
        }))
    };
    Ok(match work.strategy {
        Strategy::Held => held(OFlags::APPEND, Calls::Write)?,
        Strategy::Dsync => held(OFlags::APPEND | OFlags::DSYNC, Calls::Write)?,
        Strategy::SeekEnd => held(OFlags::empty(), Calls::SeekAndWrite)?,
        Strategy::Reopen => {
            let folder = folder.try_clone().doing("keeping the folder open")?;
            Box::new(Reopen { folder, name, records })
        }
        Strategy::Flock => Box::new(locked::Flock { file: open(OFlags::APPEND)?, records }),
        Strategy::FlockNonblocking => {
            Box::new(locked::Flock { file: open(OFlags::APPEND | OFlags::NONBLOCK)?, records })
        }
        Strategy::OfdLock => Box::new(locked::OfdLock { file: open(OFlags::APPEND)?, records }),
        Strategy::Buffered => {
            Box::new(gathered::Buffered::new(open(OFlags::APPEND)?, records, work.buffer as usize))
        }
        Strategy::Batched => {
            Box::new(gathered::Batched::new(open(OFlags::APPEND)?, records, work.batch as usize))
        }
        Strategy::Queued => Box::new(queued::Queued::start(open(OFlags::APPEND)?, records, work)?),
        Strategy::Uring => Box::new(uring::Uring::new(open(OFlags::APPEND)?, records, work)?),
        Strategy::PerWriter => Box::new(per_writer::PerWriter::new(folder, records, work)?),
        Strategy::PhpHeld
        | Strategy::PhpReopen
        | Strategy::PhpFilePutContents
        | Strategy::PhpFlock
        | Strategy::PhpFlockNonblocking
        | Strategy::PhpErrorLog
        | Strategy::PythonFileHandler
        | Strategy::PythonWatchedFileHandler
        | Strategy::NodeAppendFileSync
        | Strategy::NodeWriteStream => {
            let text = "an interpreter's work was given to a writer of our own".to_owned();
            return Err(StudyError::Worker(text));
        }
    })
}

/// The log's name, as system calls want it.
pub(crate) fn log_name(stem: &str) -> CString {
    CString::new(format!("{stem}.log")).unwrap_or_else(|_| unreachable!("stems have no NUL"))
}

/// A handle that is kept open, with one write(2) a record.
struct Held {
    file: OwnedFd,
    records: Arc<Records>,
    calls: Calls,
}

#[derive(Clone, Copy, PartialEq)]
enum Calls {
    Write,
    SeekAndWrite,
}

impl Append for Held {
    #[inline]
    fn append(&mut self, index: usize, _: &mut Recorder) -> Result<Taken, StudyError> {
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
struct Reopen {
    folder: OwnedFd,
    name: CString,
    records: Arc<Records>,
}

impl Append for Reopen {
    fn append(&mut self, index: usize, _: &mut Recorder) -> Result<Taken, StudyError> {
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
