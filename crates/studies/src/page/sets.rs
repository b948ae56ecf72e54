//! The sets of files that pages are made of: made, evicted, and looked at.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use engine::study::{Doing, StudyError};
use model::integrity::Integrity;
use model::units::exact_size;
use rustix::fs::{OFlags, fstat};
use rustix::io::Errno;
use xxhash_rust::xxh3::xxh3_64;

use crate::cold::Residency;
use crate::file::{name, open_for_reading, open_for_writing, read_whole, write_whole};
use crate::random;
use host::page_cache::evict;

/// A page of more files than this is not one.
const COPIED_MAX: usize = 512;
/// Nor one that is larger.
const COPIED_BYTES_MAX: u64 = 64 << 20;
const EVICTING: &str = "evicting a page's file from memory";

/// One file of a page.
pub(crate) struct PageFile {
    pub(crate) path: CString,
    pub(crate) bytes: u64,
}

/// What a page's files are.
#[derive(Clone)]
pub(crate) enum Parts {
    /// Made up, of these sizes.
    Made(Vec<u64>),
    /// Copies of the user's own, with their sizes.
    Copied(Vec<(PathBuf, u64)>),
}

impl Parts {
    /// Those of a folder of the user's, in the order of their names; those in
    /// folders within it are not a page's.
    ///
    /// # Errors
    /// In words, where there are none.
    pub(crate) fn of_folder(folder: &str) -> Result<Self, String> {
        let wrong = |e: std::io::Error| {
            format!("the page's files in {folder} cannot be read: {e}; name a folder of files")
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            let facts = std::fs::metadata(&path).map_err(wrong)?;
            if facts.is_file() && facts.len() > 0 {
                files.push((path, facts.len()));
            }
        }
        files.sort();
        let total: u64 = files.iter().map(|(_, bytes)| bytes).sum();
        if total > COPIED_BYTES_MAX {
            return Err(format!(
                "the files in {folder} are {} together, and a page of more than {} is not \
                 measured; name a folder with those of one page",
                exact_size(total),
                exact_size(COPIED_BYTES_MAX)
            ));
        }
        match files.len() {
            0 => Err(format!(
                "{folder} contains no files that could be used as a page; name a folder that does"
            )),
            1..=COPIED_MAX => Ok(Self::Copied(files)),
            many => Err(format!(
                "{folder} has {many} files, and a page of more than {COPIED_MAX} is not measured; \
                 name a folder with those of one page"
            )),
        }
    }

    pub(crate) fn sizes(&self) -> Vec<u64> {
        match self {
            Self::Made(sizes) => sizes.clone(),
            Self::Copied(files) => files.iter().map(|(_, bytes)| *bytes).collect(),
        }
    }

    /// How many files there are.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Made(sizes) => sizes.len() as u64,
            Self::Copied(files) => files.len() as u64,
        }
    }

    /// All files together.
    pub(crate) fn bytes(&self) -> u64 {
        self.sizes().iter().sum()
    }

    /// The contents, read or made up.
    fn contents(&self) -> Result<Vec<Vec<u8>>, StudyError> {
        match self {
            Self::Made(sizes) => {
                let longest = sizes.iter().copied().max().unwrap_or_default();
                let bytes = random::text(longest as usize, 0);
                Ok(sizes.iter().map(|size| bytes[..*size as usize].to_vec()).collect())
            }
            Self::Copied(files) => files.iter().map(|(path, bytes)| copied(path, *bytes)).collect(),
        }
    }
}

fn copied(path: &Path, wanted: u64) -> Result<Vec<u8>, StudyError> {
    const COPYING: &str = "copying a page's file";
    let contents = std::fs::read(path).doing(COPYING)?;
    let (got, wanted) = (contents.len(), wanted as usize);
    if got == wanted {
        Ok(contents)
    } else {
        Err(StudyError::Ended { doing: COPYING, got, wanted })
    }
}

/// Sets of files, all of the same sizes: as many as a slice needs, and more where an
/// earlier one needed more.
#[expect(clippy::struct_field_names, reason = "they are what it is a list of")]
pub(crate) struct Sets {
    pub(super) folder: OwnedFd,
    parts: Parts,
    sizes: Vec<u64>,
    sets: Vec<Vec<PageFile>>,
    needed: usize,
    /// Of what each file of a set was made of.
    hashes: Vec<u64>,
}

/// A page's sizes, largest first: the nth has 1/n of the first's, as the parts of
/// real pages are far from equal. They add up to the total.
pub(crate) fn sizes(files: u64, total_bytes: u64) -> Vec<u64> {
    let weights: f64 = (1..=files).map(|n| 1.0 / n as f64).sum();
    let mut sizes: Vec<u64> =
        (1..=files).map(|n| (total_bytes as f64 / weights / n as f64) as u64).collect();
    // Rounding down leaves a few bytes over.
    sizes[0] += total_bytes - sizes.iter().sum::<u64>();
    sizes
}

impl Sets {
    pub(crate) fn new(folder: OwnedFd, parts: Parts) -> Self {
        Self {
            folder,
            sizes: parts.sizes(),
            parts,
            sets: Vec::new(),
            needed: 0,
            hashes: Vec::new(),
        }
    }

    /// How many are needed.
    pub(super) fn count(&self) -> usize {
        self.needed
    }

    /// One set's files.
    #[inline]
    pub(crate) fn files(&self, set: usize) -> &[PageFile] {
        &self.sets[set]
    }

    pub(super) fn set_bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// The largest file's size.
    pub(super) fn file_bytes_max(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or_default()
    }

    /// Makes those of so many sets that are not there; whether there were any.
    pub(crate) fn make(&mut self, sets: u64) -> Result<bool, StudyError> {
        self.needed = sets as usize;
        if self.sets.len() >= self.needed {
            return Ok(false);
        }
        let contents = self.parts.contents()?;
        let hashes: Vec<u64> = contents.iter().map(|bytes| xxh3_64(bytes)).collect();
        if !self.sets.is_empty() && hashes != self.hashes {
            return Err(StudyError::Unsuited(
                "the page's files changed during the run, so that its sets would differ; measure \
                 a copy of them"
                    .to_owned(),
            ));
        }
        self.hashes = hashes;
        for set in self.sets.len()..self.needed {
            let mut files = Vec::new();
            for (index, bytes) in contents.iter().enumerate() {
                let path = name(&format!("page{set}-part{index}"));
                let file = PageFile { path, bytes: bytes.len() as u64 };
                let open = open_for_writing(&self.folder, &file.path, OFlags::EXCL)
                    .doing("making a page's file")?;
                write_whole(&open, bytes, "writing a page's file")?;
                files.push(file);
            }
            self.sets.push(files);
        }
        Ok(true)
    }

    /// Does something with each file of the first so many sets, opened.
    fn each(
        &self,
        sets: usize,
        mut visit: impl FnMut(&PageFile, OwnedFd) -> Result<(), StudyError>,
    ) -> Result<(), StudyError> {
        for file in self.sets[..sets].iter().flatten() {
            let open = open_for_reading(&self.folder, &file.path).doing("opening a page's file")?;
            visit(file, open)?;
        }
        Ok(())
    }

    /// Gets every file out of memory, those that are not needed too.
    pub(super) fn evict(&self) -> Result<(), StudyError> {
        self.each(self.sets.len(), |_, open| evict(open).doing(EVICTING))
    }

    /// Gets every file that is needed into memory.
    pub(super) fn read_all(&self) -> Result<(), StudyError> {
        let mut buffer = vec![0; self.file_bytes_max() as usize];
        self.each(self.needed, |file, open| {
            read_whole(open, &mut buffer[..file.bytes as usize], "reading a page's file")
        })
    }

    /// Holds every file that is needed against what it was made of.
    pub(super) fn account(&self) -> Result<Integrity, StudyError> {
        const CHECKING: &str = "checking a page's file";
        let mut integrity = Integrity::default();
        let mut buffer = vec![0; self.file_bytes_max() as usize];
        for set in &self.sets[..self.needed] {
            for (file, hash) in set.iter().zip(&self.hashes) {
                integrity.records += 1;
                let open = match open_for_reading(&self.folder, &file.path) {
                    Err(Errno::NOENT) => {
                        integrity.lost += 1;
                        continue;
                    }
                    opened => opened.doing(CHECKING)?,
                };
                if fstat(&open).doing(CHECKING)?.st_size as u64 != file.bytes {
                    integrity.torn += 1;
                    continue;
                }
                let bytes = &mut buffer[..file.bytes as usize];
                read_whole(open, bytes, CHECKING)?;
                integrity.overwritten += u64::from(xxh3_64(bytes) != *hash);
            }
        }
        Ok(integrity)
    }

    /// How much of the files that are needed is in memory.
    pub(super) fn residency(&self) -> Result<Residency, StudyError> {
        let mut residency = Residency::default();
        self.each(self.needed, |_, open| residency.add(&open))?;
        Ok(residency)
    }
}
