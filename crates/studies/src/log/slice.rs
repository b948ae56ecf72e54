//! A slice of the study: who writes, where, and what.
//!
//! A single native writer works in this very process, with no pipe or second
//! clock between it and the recorder. Several, and interpreters, are workers
//! (`crew.rs`).
//! With several writers the time per operation is what one of them sees: the sum of their
//! times over all records. It can be held against a single writer's; what all
//! of them get done together stands beside it as `records_per_s`.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use engine::study::{Doing, SliceFolders, StudyError};
use process::worker::{Assignment, WorkerPool};
use rustix::fs::{OFlags, fstat};

use super::append::log_name;
use super::config::Config;
use super::crew::Crew;
use super::records::Records;
use super::spec::Strategy;
use super::work::Work;
use crate::file::{FileId, Standing, keep_open, open_for_reading, open_for_writing};

/// What a slice is told, before its number of records is known.
pub(super) struct Slice<'a> {
    pub(super) config: &'a Config,
    pub(super) pool: &'a WorkerPool,
    /// Who writes in the place of this thread; nobody where it writes by itself.
    pub(super) crew: Option<Crew>,
    /// The first writer's work.
    pub(super) work: Work,
    pub(super) folder: OwnedFd,
    log: FileId,
    /// Of PHP alone, which opens files by an absolute path whatever it is told.
    standing: Option<Standing>,
}

impl<'a> Slice<'a> {
    pub(super) fn new(
        config: &'a Config,
        pool: &'a WorkerPool,
        folders: SliceFolders<'_>,
    ) -> Result<Self, StudyError> {
        let crew = Crew::of(config, folders.clients)?;
        let folder = keep_open(folders.fresh)?;
        let work = Work::new(config);
        // There is a log to read back, whatever the writers come to.
        let log = open_for_writing(&folder, &log_name(&work.stem), OFlags::APPEND | OFlags::EXCL)
            .and_then(FileId::of)
            .doing("making the log file")?;
        let standing = config.strategy.goes_by_path().then(|| Standing::of(&folder)).transpose()?;
        Ok(Self { config, pool, crew, work, folder, log, standing })
    }

    pub(super) fn is_per_writer(&self) -> bool {
        self.config.strategy == Strategy::PerWriter
    }

    /// An assignment for each writer, and what must be kept open until they are done.
    pub(super) fn assignments(
        &self,
        crew: &Crew,
        work: &Work,
    ) -> Result<(Vec<Assignment>, Vec<OwnedFd>), StudyError> {
        let mut kept = Vec::new();
        let writers = self.config.writers;
        let assignments = (0..writers as u32)
            .map(|number| {
                let mut work = work.of_writer(number, writers);
                work.folder = crew.path_to(&self.folder).doing("finding the folder's path")?;
                if self.config.strategy.interpreter().is_some() {
                    // They do not make their records themselves.
                    let file = records_file(&work).doing("making a writer's records")?;
                    let path = crew.path_to(&file).doing("making a writer's records")?;
                    work.records_file = Some(path);
                    kept.push(file);
                }
                Assignment::of("log", &work).doing("writing down a writer's work")
            })
            .collect::<Result<_, StudyError>>()?;
        Ok((assignments, kept))
    }

    /// An error where what was written may not be in the slice's folder.
    pub(super) fn check_standing(&self) -> Result<(), StudyError> {
        self.standing.as_ref().map_or(Ok(()), Standing::check)
    }

    pub(super) fn log_size(&self) -> io::Result<u64> {
        Ok(fstat(self.open_log()?)?.st_size as u64)
    }

    pub(super) fn open_log(&self) -> io::Result<File> {
        let log = open_for_reading(&self.folder, &log_name(&self.work.stem))?;
        if FileId::of(&log)? != self.log {
            let text = "it is not the file that was made: something replaced it";
            return Err(io::Error::other(text));
        }
        Ok(log.into())
    }
}

/// A writer's records in a file that exists in memory alone.
fn records_file(work: &Work) -> io::Result<OwnedFd> {
    use std::io::Write as _;
    let records = Records::make(work.format(), work.writer, work.records);
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::memfd_create("iotoll-records", flags)?);
    file.write_all(records.bytes())?;
    Ok(file.into())
}
