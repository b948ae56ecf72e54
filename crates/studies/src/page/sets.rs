//! The sets of files that pages are made of: made, evicted, and looked at.

use std::borrow::Cow;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::study::{Doing, Footprint, StudyError};
use model::integrity::Integrity;
use model::material::Material;
use rustix::fs::{OFlags, fstat};
use rustix::io::Errno;
use units::{counted, rough_size};
use xxhash_rust::xxh3::xxh3_64;

use crate::drop_cache::Residency;
use crate::file::{
    make_common_folder, name, open_for_reading, open_for_writing, read_whole, write_whole,
};
use crate::random;
use crate::tree::joined;
use crate::user_data::files::{Bounds, OwnFile, OwnFiles};
use host::page_cache::evict;

/// A page of more files, or of larger ones, is not one.
pub(crate) const OWN: Bounds = Bounds { what: "a page", files: 512, bytes: 64 << 20, sample: None };
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
    /// Copies of the user's own.
    Own(Arc<OwnFiles>),
}

impl Parts {
    pub(crate) fn sizes(&self) -> Vec<u64> {
        match self {
            Self::Made(sizes) => sizes.clone(),
            Self::Own(own) => own.files().iter().map(OwnFile::bytes).collect(),
        }
    }

    /// How many files there are.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Made(sizes) => sizes.len() as u64,
            Self::Own(own) => own.count(),
        }
    }

    /// All files together.
    pub(crate) fn bytes(&self) -> u64 {
        self.sizes().iter().sum()
    }

    /// What so many sets come to.
    pub(crate) fn footprint(&self, sets: u64) -> Footprint {
        let (bytes, files) = match self {
            // Each set may have a folder.
            Self::Made(_) => (self.bytes(), self.count() + 1),
            Self::Own(own) => (own.bytes_on_disk(), own.entries()),
        };
        Footprint { space_bytes: bytes * sets, files: files * sets, written_bytes: bytes * sets }
    }

    /// What reports say of it.
    pub(crate) fn material(&self) -> Material {
        match self {
            Self::Made(sizes) => {
                let files = counted(sizes.len() as u64, "file");
                let about = format!("{files} of {} together", rough_size(self.bytes()));
                Material::generated(about, "set")
            }
            Self::Own(own) => own.material(),
        }
    }

    /// The contents, the user's or made up.
    fn contents(&self) -> Vec<Cow<'_, [u8]>> {
        match self {
            Self::Made(sizes) => {
                let longest = sizes.iter().copied().max().unwrap_or_default();
                let bytes = random::text(longest as usize, 0);
                sizes.iter().map(|size| bytes[..*size as usize].to_vec().into()).collect()
            }
            Self::Own(own) => own.files().iter().map(|file| (&*file.contents).into()).collect(),
        }
    }

    /// Makes one set's files.
    fn make(&self, folder: &OwnedFd, set: usize) -> Result<Vec<PageFile>, StudyError> {
        let paths: Vec<CString> = match self {
            Self::Made(sizes) => {
                (0..sizes.len()).map(|index| name(&format!("page{set}-part{index}"))).collect()
            }
            Self::Own(own) => {
                let within = name(&format!("page{set}"));
                // Of several clients that read the same, another may have made them.
                own.make_folders(folder, &within, make_common_folder)?;
                own.files().iter().map(|file| joined(&within, &file.path)).collect()
            }
        };
        let files = paths.into_iter().zip(self.contents());
        files
            .map(|(path, contents)| {
                let bytes = contents.len() as u64;
                match open_for_writing(folder, &path, OFlags::EXCL) {
                    Err(Errno::EXIST) => {}
                    made => {
                        let open = made.doing("making a page's file")?;
                        write_whole(&open, &contents, "writing a page's file")?;
                    }
                }
                Ok(PageFile { path, bytes })
            })
            .collect()
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
        if self.hashes.is_empty() {
            self.hashes = self.parts.contents().iter().map(|bytes| xxh3_64(bytes)).collect();
        }
        for set in self.sets.len()..self.needed {
            self.sets.push(self.parts.make(&self.folder, set)?);
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
