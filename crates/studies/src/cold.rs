//! Files out of memory, so that reading them asks the device: our own alone, which needs no
//! rights, and with proof, since nothing makes the kernel let go of a page.

use std::os::fd::{AsFd, OwnedFd};

use engine::study::{Doing, StudyError};
use host::page_cache::{evict, lives_in_memory, resident_bytes};
use model::study::{ParamKind, ParamSpec};
use rustix::fs::fstat;

use crate::choices::choices;

const EVICTING: &str = "evicting a file from memory";
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
pub(crate) const fn param(about: &'static str) -> ParamSpec {
    ParamSpec { name: "cache", about, kind: ParamKind::Choice(Cache::NAMES), default: "warm" }
}

/// Files that are evicted one by one, and how much of them stayed nevertheless.
#[derive(Default)]
pub(crate) struct Evicted {
    resident_bytes: u64,
    all_bytes: u64,
}

impl Evicted {
    /// Evicts a file.
    pub(crate) fn file(&mut self, file: &OwnedFd) -> Result<(), StudyError> {
        evict(file).doing(EVICTING)?;
        let page_bytes = rustix::param::page_size() as u64;
        let whole = (fstat(file).doing(EVICTING)?.st_size as u64).next_multiple_of(page_bytes);
        // A large page counts as a whole, however little of it the file has.
        self.resident_bytes += resident_bytes(file).doing(EVICTING)?.min(whole);
        self.all_bytes += whole;
        Ok(())
    }

    /// An error where cold files could not be had, for then there is nothing to be timed. A
    /// place in memory is never cold, which is its answer.
    pub(crate) fn check(&self, folder: impl AsFd) -> Result<(), StudyError> {
        let percent = self.resident_bytes as f64 * 100.0 / self.all_bytes.max(1) as f64;
        if percent <= LEFT_PERCENT_MAX || lives_in_memory(folder).doing(EVICTING)? {
            return Ok(());
        }
        Err(not_cold(percent))
    }
}

/// So much of the files stayed in memory.
pub(crate) fn not_cold(percent: f64) -> StudyError {
    StudyError::Unsuited(format!(
        "{percent:.0}% of the files were still in memory after they had been evicted, so cold \
         reads cannot be timed here; see whether the file system keeps its files in memory, or \
         time cache=warm alone"
    ))
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
        let mut evicted = Evicted::default();
        evicted.file(&file).unwrap();
        assert_eq!((evicted.resident_bytes, evicted.all_bytes), (0, 102_400));
        evicted.check(File::open(folder.path()).unwrap()).unwrap();
        // As if the kernel had kept some of it.
        evicted.resident_bytes = 5 << 10;
        let refused = evicted.check(File::open(folder.path()).unwrap()).unwrap_err().to_string();
        assert!(refused.starts_with("5% of the files were still in memory"), "{refused}");
        let memory = in_memory();
        evicted.check(File::open(memory.path()).unwrap()).unwrap();
    }
}
