//! `page`: a request reads the files that its page is made of.
//!
//! Warm, every operation reads the same files, which memory holds. Cold, every
//! operation reads a set of files that memory does not hold: a slice has as many
//! sets as operations, each evicted before the clock starts. That they were out
//! of memory and came from the device is measured in every slice, and stands
//! among the figures. What stays cached is the way to the files, the names and
//! inodes that the kernel keeps apart and gives up only to the superuser.

mod sets;
pub(crate) mod spec;
mod ways;

use std::os::fd::BorrowedFd;

use engine::recorder::Recorder;
use engine::study::{Doing, Operations, Study, StudyError, Task};
use model::study::{Params, StudySpec};
use model::units::exact_size;

pub(crate) use self::sets::{PageFile, Parts, Sets};
use self::ways::Way;
use crate::tree::sync_tree;
use host::page_cache::lives_in_memory;
use host::process::storage_read_bytes;

/// All sets of a cold slice together, or one that is larger. A set costs far more to
/// make and to remove than to read: where freed blocks are discarded at once, each of
/// its files takes milliseconds.
const COLD_BYTES_MAX: u64 = 2 << 20;
/// All files of a cold slice together, for `held` keeps them open.
const COLD_FILES_MAX: u64 = 512;
/// Even the fastest way needs longer than a slice lasts for so many operations.
const WARM_OPERATIONS_MAX: u64 = 1 << 20;
/// More than this left in memory, and a cold read is not cold.
const LEFT_PERCENT_MAX: f64 = 2.0;

/// The study.
pub(crate) struct Page;

impl Study for Page {
    fn spec(&self) -> &'static StudySpec {
        &spec::SPEC
    }

    fn operations(&self, params: &Params) -> Result<Operations, String> {
        let sizes = parts(params)?.sizes();
        let (files, total_bytes) = (sizes.len() as u64, sizes.iter().sum::<u64>());
        let cold_max = (COLD_BYTES_MAX / total_bytes).min(COLD_FILES_MAX / files).max(1);
        let max = if is_cold(params) { cold_max } else { WARM_OPERATIONS_MAX };
        Ok(Operations { granule: 1, max })
    }

    fn space_bytes(&self, _strategy: &str, params: &Params, operations: u64) -> u64 {
        let page_bytes: u64 = parts(params).map_or(0, |parts| parts.sizes().iter().sum());
        page_bytes * if is_cold(params) { operations } else { 1 }
    }

    fn prepare(
        &self,
        strategy: &str,
        params: &Params,
        folder: BorrowedFd<'_>,
    ) -> Result<Box<dyn Task>, StudyError> {
        let folder = folder.try_clone_to_owned().doing("keeping the folder open")?;
        Ok(Box::new(Pages {
            way: ways::of(strategy),
            sets: Sets::new(folder, parts(params).map_err(StudyError::Unsuited)?),
            cold: is_cold(params),
            resident_percent: 0.0,
            storage_read_bytes: None,
            page_bytes: 0,
            requested_bytes: 0,
        }))
    }
}

/// What a page is made of, as the parameters `files`, `total` and `set` say.
pub(crate) fn parts(params: &Params) -> Result<Parts, String> {
    let folder = params.text("set");
    if !folder.is_empty() {
        return Parts::of_folder(folder);
    }
    let (files, total_bytes) = (params.count("files"), params.size("total"));
    let sizes = sets::sizes(files, total_bytes);
    if sizes.contains(&0) {
        return Err(format!(
            "{} cannot be split into {files} files of at least a byte; raise total or lower files",
            exact_size(total_bytes)
        ));
    }
    Ok(Parts::Made(sizes))
}

fn is_cold(params: &Params) -> bool {
    params.choice("cache") == "cold"
}

struct Pages {
    way: Box<dyn Way>,
    sets: Sets,
    cold: bool,
    /// Of all files, before the clock started.
    resident_percent: f64,
    /// Before the clock started, and from then on.
    storage_read_bytes: Option<u64>,
    /// What all pages together are made of, and what the system was asked for.
    page_bytes: u64,
    requested_bytes: u64,
}

impl Pages {
    fn make(&mut self, operations: u64) -> Result<(), StudyError> {
        self.sets.make(if self.cold { operations } else { 1 })?;
        if self.cold {
            // What their making leaves to be written is not for a slice to pay.
            sync_tree(&self.sets.folder)?;
        }
        self.way.open(&self.sets)
    }

    /// Brings all files into memory, or out of it.
    fn temper(&self) -> Result<(), StudyError> {
        if self.cold && !lives_in_memory(&self.sets.folder).doing("asking what the folder is")? {
            self.sets.evict()
        } else {
            self.sets.read_all()
        }
    }

    /// Looks at what memory holds of the files: where cold ones could not be had,
    /// there is nothing to be timed. A place in memory is not cold by its nature,
    /// which is its answer; the figure says so.
    fn prove(&mut self) -> Result<(), StudyError> {
        self.resident_percent = self.sets.resident_percent()?;
        self.storage_read_bytes = storage_read_bytes();
        let warm = !self.cold || self.resident_percent <= LEFT_PERCENT_MAX;
        if warm || lives_in_memory(&self.sets.folder).doing("asking what the folder is")? {
            return Ok(());
        }
        Err(StudyError::Unsuited(format!(
            "memory held {:.0}% of the files though they had been evicted, so cold reads cannot \
             be timed here; see whether the file system keeps its files in memory, or time \
             cache=warm alone",
            self.resident_percent
        )))
    }
}

impl Task for Pages {
    fn ready(&mut self, operations: u64, _recorder: &Recorder) -> Result<(), StudyError> {
        self.make(operations)?;
        self.temper()?;
        self.prove()
    }

    fn run(&mut self, operations: u64, recorder: &mut Recorder) -> Result<(), StudyError> {
        let mut set = 0;
        for _ in 0..operations {
            self.requested_bytes += self.way.page(&self.sets, set)?;
            recorder.lap();
            set = if set + 1 == self.sets.count() { 0 } else { set + 1 };
            recorder.check_stop()?;
        }
        self.page_bytes += operations * self.sets.set_bytes();
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StudyError> {
        let before = self.storage_read_bytes;
        self.storage_read_bytes =
            before.zip(storage_read_bytes()).map(|(before, after)| after.saturating_sub(before));
        Ok(())
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let read = self.storage_read_bytes.map(|bytes| {
            (spec::FROM_STORAGE, bytes as f64 * 100.0 / self.page_bytes.max(1) as f64)
        });
        [(spec::RESIDENT, self.resident_percent)].into_iter().chain(read).collect()
    }

    fn requested_bytes(&self) -> u64 {
        self.requested_bytes
    }
}

#[cfg(test)]
mod tests;
