//! From a strategy's name to what appends by it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::study::{Doing, StudyError};
use rustix::fs::OFlags;

use super::append::{OPENING, log_name};
use super::each::{self, Calls};
use super::locked::{By, Locked};
use super::records::Records;
use super::round::AppendAll;
use super::spec::Strategy;
use super::work::Work;
use super::{gathered, per_writer, queued, uring};
use crate::file::{keep_open, open_for_writing};

/// Makes ready the strategy that the work names.
pub(crate) fn make(
    work: &Work,
    folder: &OwnedFd,
    records: &Arc<Records>,
) -> Result<Box<dyn AppendAll>, StudyError> {
    let name = log_name(&work.stem);
    let open = |extra| open_for_writing(folder, &name, extra).doing(OPENING);
    let records = Arc::clone(records);
    let held = |extra, calls: Calls| {
        Ok::<_, StudyError>(Box::new(each::Held {
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
            let folder = keep_open(folder)?;
            Box::new(each::Reopen { folder, name, records })
        }
        Strategy::Flock => Box::new(Locked { file: open(OFlags::APPEND)?, records, by: By::Flock }),
        Strategy::FlockNonblocking => {
            let file = open(OFlags::APPEND | OFlags::NONBLOCK)?;
            Box::new(Locked { file, records, by: By::Flock })
        }
        Strategy::OfdLock => {
            Box::new(Locked { file: open(OFlags::APPEND)?, records, by: By::OfdLock })
        }
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
