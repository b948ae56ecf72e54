//! Files out of memory, so that reading them asks the device: our own alone, which needs no
//! rights, and with proof, since nothing makes the kernel let go of a page.

use std::os::fd::{AsFd, OwnedFd};

use engine::study::{Doing, StudyError};
use host::page_cache::{evict, lives_in_memory, resident_bytes};
use model::study::{ParamDescription, ParamKind};
use rustix::fs::fstat;

use crate::choices::choices;

const EVICTING: &str = "evicting a file from memory";
const LOOKING: &str = "asking how much of a file is in memory";
/// More than this left in memory, and a cold read is not cold.
pub(crate) const LEFT_PERCENT_MAX: f64 = 2.0;

choices! {
    /// Whether memory holds the files.
    pub(crate) enum Cache {
        Warm = "warm",
        Cold = "cold",
    }
}

/// The parameter, where warm files are what is usual.
pub(crate) fn param(about: &str) -> ParamDescription {
    ParamDescription::new("cache", about, ParamKind::Choice(Cache::NAMES), "warm")
}

/// How much of some files memory holds, in whole pages.
#[derive(Default)]
pub(crate) struct Residency {
    held_bytes: u64,
    all_bytes: u64,
}

impl Residency {
    /// Looks at another file.
    pub(crate) fn add(&mut self, file: &OwnedFd) -> Result<(), StudyError> {
        let page_bytes = rustix::param::page_size() as u64;
        let whole = (fstat(file).doing(LOOKING)?.st_size as u64).next_multiple_of(page_bytes);
        // A large page counts as a whole, however little of it the file has.
        self.held_bytes += resident_bytes(file).doing(LOOKING)?.min(whole);
        self.all_bytes += whole;
        Ok(())
    }

    /// Evicts another file, and looks how much of it stayed.
    pub(crate) fn evict(&mut self, file: &OwnedFd) -> Result<(), StudyError> {
        evict(file).doing(EVICTING)?;
        self.add(file)
    }

    /// The share of all that was looked at.
    pub(crate) fn percent(&self) -> f64 {
        self.held_bytes as f64 * 100.0 / self.all_bytes.max(1) as f64
    }

    /// An error where cold files could not be had, for then there is nothing to be timed. A
    /// place in memory is never cold, which is its answer.
    pub(crate) fn check_cold(&self, folder: impl AsFd) -> Result<(), StudyError> {
        let percent = self.percent();
        if percent <= LEFT_PERCENT_MAX || is_in_memory(folder)? {
            return Ok(());
        }
        Err(StudyError::Unsuited(format!(
            "{percent:.0}% of the files' data was still in memory after eviction, so cold reads \
             cannot be timed here; check whether the file system keeps its files in memory, or \
             use cache=warm only"
        )))
    }
}

/// Whether a folder's files are in memory by the nature of its file system.
pub(crate) fn is_in_memory(folder: impl AsFd) -> Result<bool, StudyError> {
    lives_in_memory(folder).doing("asking what the folder is")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, File};

    use super::*;
    use crate::testing::{in_memory, on_disk};

    #[test]
    fn files_that_stayed_in_memory_are_not_passed_off_as_cold() {
        let folder = on_disk();
        let path = folder.path().join("file");
        fs::write(&path, vec![7; 100_000]).unwrap();
        let file = OwnedFd::from(File::open(&path).unwrap());
        let mut left = Residency::default();
        left.evict(&file).unwrap();
        assert_eq!((left.held_bytes, left.all_bytes), (0, 102_400));
        left.check_cold(File::open(folder.path()).unwrap()).unwrap();
        // As if the kernel had kept some of it.
        left.held_bytes = 5 << 10;
        let refused = left.check_cold(File::open(folder.path()).unwrap()).unwrap_err().to_string();
        assert!(refused.starts_with("5% of the files' data was still in memory"), "{refused}");
        let memory = in_memory();
        left.check_cold(File::open(memory.path()).unwrap()).unwrap();
    }
}
