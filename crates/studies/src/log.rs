//! `log`: an application appends records to a log file.
//!
//! Three ways of doing it: open and close the file around every record, keep
//! one handle open, or keep it open and hold an exclusive lock around each
//! write. Every record is one write(2) to an `O_APPEND` descriptor.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use engine::recorder::Recorder;
use engine::study::{Doing, Operations, Study, StudyError, Task};
use model::study::{ParamKind, ParamSpec, Params, StrategySpec, StudySpec, SyncPolicy};
use rustix::fs::{FlockOperation, OFlags, fdatasync, flock};

use crate::file::{open_for_writing, write_whole};

const NAME: &CStr = c"app.log";
const APPENDING: &str = "appending to the log";
const SYNCING: &str = "forcing the log to the device";

/// A slice's file grows to this at the most.
const FILE_BYTES_MAX: u64 = 64 << 20;

static SPEC: StudySpec = StudySpec {
    name: "log",
    about: "append records to a log file",
    operation: "record",
    moves_bytes: false,
    strategies: &[
        StrategySpec {
            name: "reopen",
            about: "open, write and close the file for each record",
            promise: "",
            by_default: true,
        },
        StrategySpec {
            name: "held",
            about: "write to one handle kept open (O_APPEND)",
            promise: "",
            by_default: true,
        },
        StrategySpec {
            name: "flock",
            about: "as held, with an exclusive flock(2) around each write",
            promise: "",
            by_default: true,
        },
    ],
    figures: &[],
    params: &[
        ParamSpec {
            name: "record",
            about: "size of a record",
            kind: ParamKind::Size { min: 1, max: 1 << 20 },
            default: "70 B",
        },
        ParamSpec {
            name: "sync",
            about: "when to fdatasync(2): never, each (record), every N (records)",
            kind: ParamKind::Sync,
            default: "never",
        },
    ],
};

/// The study.
pub(crate) struct Log;

impl Study for Log {
    fn spec(&self) -> &'static StudySpec {
        &SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        let granule = match params.sync("sync") {
            SyncPolicy::Never | SyncPolicy::Each => 1,
            SyncPolicy::Every(n) => n.get(),
            SyncPolicy::Interval(_) => return Err("syncing by time is not supported".to_owned()),
        };
        let max = (FILE_BYTES_MAX / params.size("record")).max(1) / granule * granule;
        if max == 0 {
            return Err(format!(
                "syncing every {granule} records of {} would take more than {} a slice; \
                 sync more often or write smaller records",
                model::units::exact_size(params.size("record")),
                model::units::exact_size(FILE_BYTES_MAX)
            ));
        }
        Ok(Operations { granule, max })
    }

    fn space_bytes(&self, params: &Params, operations: u64) -> u64 {
        params.size("record") * operations
    }

    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        let strategy = match strategy {
            "reopen" => Strategy::Reopen,
            "held" => Strategy::Held,
            "flock" => Strategy::Flock,
            other => unreachable!("the study log has no strategy {other}"),
        };
        Ok(Box::new(Appender {
            strategy,
            folder: folder.try_clone_to_owned().doing("keeping the folder open")?,
            file: open_for_writing(folder, NAME, OFlags::APPEND).doing("making the log file")?,
            record: record(params.size("record") as usize),
            sync_interval: match params.sync("sync") {
                SyncPolicy::Never | SyncPolicy::Interval(_) => u64::MAX,
                SyncPolicy::Each => 1,
                SyncPolicy::Every(n) => n.get(),
            },
            written_bytes: 0,
        }))
    }
}

#[derive(Clone, Copy)]
enum Strategy {
    Reopen,
    Held,
    Flock,
}

struct Appender {
    strategy: Strategy,
    folder: OwnedFd,
    file: OwnedFd,
    record: Vec<u8>,
    sync_interval: u64,
    written_bytes: u64,
}

impl Appender {
    /// Appends so many records by `append`, which is told whether a sync is due.
    #[inline]
    fn each_record(
        &self,
        operations: u64,
        recorder: &mut Recorder,
        append: impl Fn(bool, &mut Recorder) -> Result<(), StudyError>,
    ) -> Result<(), StudyError> {
        let mut until_sync = self.sync_interval;
        for _ in 0..operations {
            until_sync -= 1;
            let due = until_sync == 0;
            append(due, recorder)?;
            recorder.lap();
            if due {
                until_sync = self.sync_interval;
            }
            recorder.check_stop()?;
        }
        Ok(())
    }

    #[inline]
    fn write(&self, file: &OwnedFd) -> Result<(), StudyError> {
        write_whole(file, &self.record, APPENDING)
    }

    fn reopen(&self, due: bool, recorder: &mut Recorder) -> Result<(), StudyError> {
        let file =
            open_for_writing(&self.folder, NAME, OFlags::APPEND).doing("reopening the log")?;
        self.write(&file)?;
        sync_if(due, &file, recorder)
    }

    #[inline]
    fn held(&self, due: bool, recorder: &mut Recorder) -> Result<(), StudyError> {
        self.write(&self.file)?;
        sync_if(due, &self.file, recorder)
    }

    /// The sync comes after the lock is given back: others need not wait for it.
    fn flock(&self, due: bool, recorder: &mut Recorder) -> Result<(), StudyError> {
        recorder
            .lock(|| flock(&self.file, FlockOperation::LockExclusive))
            .doing("locking the log")?;
        let written = self.write(&self.file);
        flock(&self.file, FlockOperation::Unlock).doing("unlocking the log")?;
        written?;
        sync_if(due, &self.file, recorder)
    }
}

impl Task for Appender {
    fn run(&mut self, operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        match self.strategy {
            Strategy::Reopen => {
                self.each_record(operations, recorder, |due, r| self.reopen(due, r))
            }
            Strategy::Held => self.each_record(operations, recorder, |due, r| self.held(due, r)),
            Strategy::Flock => self.each_record(operations, recorder, |due, r| self.flock(due, r)),
        }?;
        self.written_bytes += operations * self.record.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        fdatasync(&self.file).doing(SYNCING)
    }

    fn requested_bytes(&self) -> u64 {
        self.written_bytes
    }
}

#[inline]
fn sync_if(due: bool, file: &OwnedFd, recorder: &mut Recorder) -> Result<(), StudyError> {
    if due { recorder.sync(|| fdatasync(file)).doing(SYNCING) } else { Ok(()) }
}

/// A line of text of exactly this many bytes, ended by a newline.
fn record(bytes: usize) -> Vec<u8> {
    const WORDS: &[u8] = b"2026-01-01T00:00:00.000Z INFO request done status=200 bytes=5120 ms=7 ";
    let mut line: Vec<u8> = WORDS.iter().copied().cycle().take(bytes).collect();
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_size_and_ends_its_line() {
        for bytes in [1, 2, 70, 8193] {
            let line = record(bytes);
            assert_eq!(line.len(), bytes);
            assert_eq!(line.split(|b| *b == b'\n').count(), 2);
            assert_eq!(line.last(), Some(&b'\n'));
        }
    }
}
