//! A folder of the user's with all below it.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::study::{Doing, StudyError};
use model::material::Material;
use rustix::fs::{AtFlags, CWD, Dir, FileType, OFlags, Stat, fstat, statat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use units::{count, counted, exact_size, rough_size};

use super::inherited::{self, Kept};
use super::source::{below, open_untouched, read_most, shown, unreadable};
use crate::file::{make_folder, open_for_writing, write_whole};
use crate::random::{GOLDEN, mixed};
use crate::shared::Shared;
use crate::tree::{Entry, joined, listed};

/// Folders within folders deeper than this are no longer read.
const DEPTH_MAX: usize = 32;
/// More folders than this are a tree to choose a part of, however few files are in them.
const FOLDERS_MAX: usize = 4096;
/// So many entries of a folder are looked at, and no more.
pub(crate) const FILES_SEEN_MAX: usize = 1 << 20;
/// A longer path could not be made below a place.
const PATH_BYTES_MAX: usize = 2048;
/// What a file or folder takes beside its contents, rounded up to whole blocks.
const BLOCK_BYTES: u64 = 4096;

/// What a study takes of a folder at the most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// What the files are together: `a page`.
    pub(crate) what: &'static str,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// Where the files are independent of each other: how many a random sample has, which is taken
    /// of a folder with more.
    pub(crate) sample: Option<usize>,
}

/// A folder's files as they were when they were read.
pub(crate) struct OwnFiles {
    /// In the order of their paths.
    files: Vec<OwnFile>,
    /// Folders within the folder, each after those that it is in.
    folders: Vec<CString>,
    left_out: LeftOut,
    sampled: Option<Sampled>,
    _kept: Option<Kept>,
}

/// All of it but the files' contents, which follow one another.
#[derive(Serialize, Deserialize)]
struct Inherited {
    /// With their lengths.
    files: Vec<(CString, u64)>,
    folders: Vec<CString>,
    left_out: LeftOut,
    sampled: Option<Sampled>,
}

/// One of them.
pub(crate) struct OwnFile {
    /// Below the folder.
    pub(crate) path: CString,
    pub(crate) contents: Vec<u8>,
}

/// What is in the folder and was not taken.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct LeftOut {
    links: u64,
    special: u64,
    empty: u64,
    /// Files of a sample that one alone would fill.
    large: u64,
    /// Files that were taken as far as they were there.
    changed: u64,
}

/// All files of a folder of which a sample was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sampled {
    files: u64,
    bytes: u64,
}

impl OwnFiles {
    /// Reads a folder, or shares what another arm has read of it.
    pub(crate) fn read(folder: &str, bounds: Bounds) -> Result<Arc<Self>, StudyError> {
        static READ: Shared<[String; 2], OwnFiles> = Shared::new();
        READ.get([folder, bounds.what].map(str::to_owned), || Self::new(folder, bounds))
            .map_err(StudyError::Unsuited)
    }

    /// Those that the run has read, or else the folder's.
    fn new(folder: &str, bounds: Bounds) -> Result<Self, String> {
        let name = format!("{} of {folder}", bounds.what);
        if let Some(given) = inherited::given(&name) {
            let (about, contents) = given?;
            return Self::inherited(about, &contents);
        }
        let found = Reading::read(folder, bounds)?;
        let files = found.files.iter().map(|file| (file.path.clone(), file.bytes())).collect();
        let (folders, left_out, sampled) = (found.folders.clone(), found.left_out, found.sampled);
        let contents = found.files.iter().map(|file| file.contents.as_slice());
        let kept =
            inherited::keep(&name, &Inherited { files, folders, left_out, sampled }, contents)?;
        Ok(Self { _kept: Some(kept), ..found })
    }

    fn inherited(about: Inherited, mut contents: &[u8]) -> Result<Self, String> {
        let Inherited { files, folders, left_out, sampled } = about;
        let file = |(path, bytes): (CString, u64)| {
            let (own, rest) = contents.split_at_checked(bytes as usize)?;
            contents = rest;
            Some(OwnFile { path, contents: own.to_vec() })
        };
        let files: Option<Vec<OwnFile>> = files.into_iter().map(file).collect();
        let files = files.ok_or("the copy of your files is cut short")?;
        Ok(Self { files, folders, left_out, sampled, _kept: None })
    }

    pub(crate) fn files(&self) -> &[OwnFile] {
        &self.files
    }

    /// How many files there are.
    pub(crate) fn count(&self) -> u64 {
        self.files.len() as u64
    }

    /// Files and folders, the one that they are all in included.
    pub(crate) fn entries(&self) -> u64 {
        self.count() + self.folders.len() as u64 + 1
    }

    /// All files together.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(OwnFile::bytes).sum()
    }

    /// The largest file.
    pub(crate) fn largest(&self) -> u64 {
        self.files.iter().map(OwnFile::bytes).max().unwrap_or_default()
    }

    /// What a copy takes, in whole blocks.
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        let files = self.files.iter().map(|file| file.bytes().next_multiple_of(BLOCK_BYTES));
        files.sum::<u64>() + (self.folders.len() as u64 + 1) * BLOCK_BYTES
    }

    /// What reports say of it.
    pub(crate) fn material(&self) -> Material {
        let LeftOut { links, special, empty, large, changed } = self.left_out;
        let left_out: Vec<String> = [
            (links, "link"),
            (special, "special file"),
            (empty, "empty file"),
            (large, "very large file"),
        ]
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| counted(*number, what))
        .collect();
        let mut about = format!("{}, {}", counted(self.count(), "file"), rough_size(self.bytes()));
        if let Some(Sampled { files, bytes }) = self.sampled {
            about += &format!(
                ", drawn at random from {}, {}",
                counted(files, "file"),
                rough_size(bytes)
            );
        }
        if !left_out.is_empty() {
            about += &format!("; left out: {}", left_out.join(", "));
        }
        if changed > 0 {
            about += &format!("; {} changed while being copied", counted(changed, "file"));
        }
        Material::own(about, self.bytes())
    }

    /// A sample needs the folders that its files are in, and no others.
    fn drop_folders_without_files(&mut self) {
        let mut needed = BTreeSet::new();
        for file in &self.files {
            let path = file.path.to_bytes();
            let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            needed.extend(ends.map(|(end, _)| &path[..end]));
        }
        self.folders.retain(|folder| needed.contains(folder.to_bytes()));
    }

    /// Makes the folder and those within it.
    pub(crate) fn make_folders<'p>(
        &self,
        place: &'p OwnedFd,
        within: &CStr,
        make: fn(&'p OwnedFd, &CStr) -> Result<(), StudyError>,
    ) -> Result<(), StudyError> {
        make(place, within)?;
        self.folders.iter().try_for_each(|folder| make(place, &joined(within, folder)))
    }

    /// Copies all of it into a folder that is made for it.
    pub(crate) fn copy_to(&self, place: &OwnedFd, within: &CStr) -> Result<(), StudyError> {
        self.make_folders(place, within, make_folder)?;
        self.files.iter().try_for_each(|OwnFile { path, contents }| {
            let file = open_for_writing(place, &joined(within, path), OFlags::EXCL);
            write_whole(file.doing(COPYING)?, contents, COPYING)
        })
    }
}

const COPYING: &str = "copying one of your files";

impl OwnFile {
    pub(crate) fn bytes(&self) -> u64 {
        self.contents.len() as u64
    }
}

/// A folder that is being read.
struct Reading<'f> {
    folder: &'f str,
    bounds: Bounds,
    /// What becomes of each file.
    task: Task,
    /// Of all files that were seen.
    seen: Sampled,
    bytes: u64,
    found: OwnFiles,
}

enum Task {
    Count,
    Take,
    /// Takes each with this probability.
    Sample(f64),
}

impl<'f> Reading<'f> {
    fn read(folder: &'f str, bounds: Bounds) -> Result<OwnFiles, String> {
        let first = if bounds.sample.is_some() { Task::Count } else { Task::Take };
        let mut reading = Self::walked(folder, bounds, first)?;
        if let (Task::Count, Some(sample)) = (&reading.task, bounds.sample) {
            let all = reading.seen;
            let is_small = all.files <= bounds.files as u64 && all.bytes <= bounds.bytes;
            let task = if is_small { Task::Take } else { all.sampling(sample, bounds.bytes) };
            reading = Self::walked(folder, bounds, task)?;
            reading.found.sampled = (!is_small).then_some(all);
        }
        let mut found = reading.found;
        if found.files.is_empty() {
            let what = bounds.what;
            return Err(format!(
                "{} has no files that {what} could be made of{}; name a directory that has some",
                shown(&below(folder, b"")),
                if found.left_out.empty > 0 { ", only empty ones" } else { "" }
            ));
        }
        if found.sampled.is_some() {
            found.drop_folders_without_files();
        }
        found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn walked(folder: &'f str, bounds: Bounds, task: Task) -> Result<Self, String> {
        let found = OwnFiles {
            files: Vec::new(),
            folders: Vec::new(),
            left_out: LeftOut::default(),
            sampled: None,
            _kept: None,
        };
        let seen = Sampled::default();
        let mut reading = Self { folder, bounds, task, seen, bytes: 0, found };
        let root = open_untouched(CWD, folder, OFlags::DIRECTORY)
            .map_err(|e| unreadable(&below(folder, b""), e))?;
        reading.walk(&root, &[], 0)?;
        Ok(reading)
    }

    fn walk(&mut self, folder: &OwnedFd, path: &[u8], depth: usize) -> Result<(), String> {
        let wrong = |e: Errno| unreadable(&below(self.folder, path), e);
        let listing = open_untouched(folder, c".", OFlags::DIRECTORY).map_err(wrong)?;
        let mut entries = Dir::new(listing).and_then(listed).map_err(wrong)?;
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        for Entry { name, .. } in entries {
            let within = [path, if path.is_empty() { b"" } else { b"/" }, name.to_bytes()].concat();
            let stat = match statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                stat => stat.map_err(|e| unreadable(&below(self.folder, &within), e))?,
            };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => self.folder(folder, &name, &within, depth + 1)?,
                FileType::RegularFile if stat.st_size == 0 => self.found.left_out.empty += 1,
                FileType::RegularFile => self.file(folder, &name, &within, &stat)?,
                FileType::Symlink => self.found.left_out.links += 1,
                _ => self.found.left_out.special += 1,
            }
        }
        Ok(())
    }

    fn folder(
        &mut self,
        folder: &OwnedFd,
        name: &CStr,
        within: &[u8],
        depth: usize,
    ) -> Result<(), String> {
        if depth > DEPTH_MAX || within.len() > PATH_BYTES_MAX {
            return Err(self.too_much(&format!("directories nested more than {DEPTH_MAX} deep")));
        }
        if matches!(self.task, Task::Take) && self.found.folders.len() == FOLDERS_MAX {
            return Err(self.too_much(&format!("more than {FOLDERS_MAX} directories")));
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let opened = open_untouched(folder, name, flags)
            .map_err(|e| unreadable(&below(self.folder, within), e))?;
        self.found.folders.push(path_of(within));
        self.walk(&opened, within, depth)
    }

    fn file(
        &mut self,
        folder: &OwnedFd,
        name: &CStr,
        within: &[u8],
        stat: &Stat,
    ) -> Result<(), String> {
        if !self.takes(stat.st_size as u64)? {
            return Ok(());
        }
        let wrong = |e: std::io::Error| unreadable(&below(self.folder, within), e);
        let file = match open_untouched(folder, name, OFlags::NOFOLLOW) {
            // It was removed meanwhile.
            Err(Errno::NOENT) => return Ok(()),
            opened => opened.map_err(|e| wrong(e.into()))?,
        };
        let before = fstat(&file).map_err(|e| wrong(e.into()))?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            self.found.left_out.special += 1;
            return Ok(());
        }
        let again = file.try_clone().map_err(wrong)?;
        let contents = read_most(file, stat.st_size as u64).map_err(wrong)?;
        let after = fstat(again).map_err(|e| wrong(e.into()))?;
        let is_whole = contents.len() as i64 == after.st_size;
        self.found.left_out.changed += u64::from(!is_whole || stamp(stat) != stamp(&after));
        if contents.is_empty() {
            self.found.left_out.empty += 1;
        } else {
            self.found.files.push(OwnFile { path: path_of(within), contents });
        }
        Ok(())
    }

    /// Counts a file, and says whether it is taken.
    fn takes(&mut self, file_bytes: u64) -> Result<bool, String> {
        self.seen.files += 1;
        self.seen.bytes = self.seen.bytes.saturating_add(file_bytes);
        let Bounds { files, bytes, .. } = self.bounds;
        let has_room = self.found.files.len() < files;
        let together = self.bytes.saturating_add(file_bytes);
        match self.task {
            Task::Count if self.seen.files > FILES_SEEN_MAX as u64 => {
                return Err(
                    self.too_much(&format!("more than {} files", count(FILES_SEEN_MAX as u64)))
                );
            }
            Task::Count => return Ok(false),
            Task::Take if !has_room => {
                return Err(self.too_much(&format!("more than {files} files")));
            }
            Task::Take if together > bytes => {
                return Err(self.too_much(&format!("files of more than {}", exact_size(bytes))));
            }
            Task::Sample(share) if !has_room || uniform(self.seen.files) >= share => {
                return Ok(false);
            }
            Task::Sample(_) if together > bytes => {
                self.found.left_out.large += 1;
                return Ok(false);
            }
            Task::Take | Task::Sample(_) => {}
        }
        self.bytes = together;
        Ok(true)
    }

    /// That there is too much of something, and how to choose less.
    fn too_much(&self, what: &str) -> String {
        format!(
            "{} has {what}, too much for {}; name a directory further down, or copy the files that \
             matter into one of their own",
            shown(&below(self.folder, b"")),
            self.bounds.what
        )
    }
}

impl Sampled {
    /// So that about as many files are taken, of half of the bytes at the most on average.
    fn sampling(self, files: usize, bytes: u64) -> Task {
        let of_files = files as f64 / self.files as f64;
        let of_bytes = bytes as f64 / 2.0 / self.bytes.max(1) as f64;
        Task::Sample(of_files.min(of_bytes))
    }
}

/// A number from 0 to 1 that a file's number in the order of paths decides, so that all processes
/// of a run choose the same files. Mixed as `SplitMix64` does, which no order of names is in step with.
fn uniform(number: u64) -> f64 {
    (mixed(number.wrapping_mul(GOLDEN)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// What changes with a file.
fn stamp(stat: &Stat) -> (u64, i64, i64, i64) {
    (stat.st_ino, stat.st_size, stat.st_mtime, stat.st_mtime_nsec as i64)
}

fn path_of(within: &[u8]) -> CString {
    CString::new(within).unwrap_or_else(|_| unreachable!("no name has a zero in it"))
}
