//! The sets of files that pages are made of: made, evicted, and looked at.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use engine::study::{Doing, StudyError};
use rustix::fs::OFlags;

use crate::file::{name, open_for_reading, open_for_writing, read_whole, write_whole};
use crate::page_cache::{evict, resident_bytes};
use crate::random;

const EVICTING: &str = "evicting a page's file from memory";

/// One file of a page.
pub(super) struct PageFile {
    pub(super) path: CString,
    pub(super) bytes: u64,
}

/// As many sets of files as a slice needs; all are of the same sizes.
#[expect(clippy::struct_field_names, reason = "they are what it is a list of")]
pub(super) struct Sets {
    pub(super) folder: OwnedFd,
    sizes: Vec<u64>,
    sets: Vec<Vec<PageFile>>,
}

/// A page's sizes, largest first: the nth has 1/n of the first's, as the parts of
/// real pages are far from equal. They add up to the total.
pub(super) fn sizes(files: u64, total_bytes: u64) -> Vec<u64> {
    let weights: f64 = (1..=files).map(|n| 1.0 / n as f64).sum();
    let mut sizes: Vec<u64> =
        (1..=files).map(|n| (total_bytes as f64 / weights / n as f64) as u64).collect();
    // Rounding down leaves a few bytes over.
    sizes[0] += total_bytes - sizes.iter().sum::<u64>();
    sizes
}

impl Sets {
    pub(super) fn new(folder: OwnedFd, sizes: Vec<u64>) -> Self {
        Self { folder, sizes, sets: Vec::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.sets.len()
    }

    /// One set's files.
    #[inline]
    pub(super) fn files(&self, set: usize) -> &[PageFile] {
        &self.sets[set]
    }

    pub(super) fn set_bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// The largest file's size.
    pub(super) fn file_bytes_max(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or_default()
    }

    /// Makes so many sets.
    pub(super) fn make(&mut self, sets: u64) -> Result<(), StudyError> {
        let bytes = random::bytes(self.file_bytes_max() as usize, 0);
        for set in 0..sets {
            let mut files = Vec::new();
            for (index, &size) in self.sizes.iter().enumerate() {
                let file = PageFile { path: name(&format!("page{set}-part{index}")), bytes: size };
                let open = open_for_writing(&self.folder, &file.path, OFlags::EXCL)
                    .doing("making a page's file")?;
                write_whole(&open, &bytes[..size as usize], "writing a page's file")?;
                files.push(file);
            }
            self.sets.push(files);
        }
        Ok(())
    }

    /// Does something with each file, opened.
    fn each(
        &self,
        mut visit: impl FnMut(&PageFile, OwnedFd) -> Result<(), StudyError>,
    ) -> Result<(), StudyError> {
        for file in self.sets.iter().flatten() {
            let open = open_for_reading(&self.folder, &file.path).doing("opening a page's file")?;
            visit(file, open)?;
        }
        Ok(())
    }

    /// Gets every file out of memory.
    pub(super) fn evict(&self) -> Result<(), StudyError> {
        self.each(|_, open| evict(open).doing(EVICTING))
    }

    /// Gets every file into memory.
    pub(super) fn read_all(&self) -> Result<(), StudyError> {
        let mut buffer = vec![0; self.file_bytes_max() as usize];
        self.each(|file, open| {
            read_whole(open, &mut buffer[..file.bytes as usize], "reading a page's file")
        })
    }

    /// How much of all files is in memory, in whole pages.
    pub(super) fn resident_percent(&self) -> Result<f64, StudyError> {
        let page_bytes = rustix::param::page_size() as u64;
        let (mut resident, mut all) = (0, 0);
        self.each(|file, open| {
            resident += resident_bytes(open).doing("asking how much of a file is in memory")?;
            all += file.bytes.next_multiple_of(page_bytes);
            Ok(())
        })?;
        Ok(resident as f64 * 100.0 / all as f64)
    }
}
