//! Commits, done step by step. What the last of a slice wrote is read back after it.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use engine::slice_timer::SliceTimer;
use engine::study::{
    About, Doing as _, Footprint, Operations, Ran, Ready, SliceFolders, StudyError, Workload,
};
use model::integrity::Integrity;
use model::slice::Outcome;
use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, fallocate, fdatasync, fsync, ftruncate, openat,
    renameat, unlinkat,
};
use rustix::io::{Errno, pread, pwrite};

use super::profile::{At, FileAtStart, Profile, Step};
use crate::file::{keep_open, name, write_whole};
use crate::random::{self, stamp};

/// Even the fastest commits take longer than a slice lasts.
const COMMITS_MAX: u64 = 16_000;
/// A slice has so many at the least: on the slowest disk, a fifth of a second of syncs.
const SYNCED_LEAST: u64 = 10;
/// The same of commits that stay in memory.
const CACHED_LEAST: u64 = 500;
/// The same where names change: a file system may write a file that is renamed over another.
const NAMES_LEAST: u64 = 20;
const CREATING: &str = "creating a file";
const WRITING: &str = "writing to a file";
const SYNCING: &str = "forcing a file to the device";
const NAMING: &str = "renaming, cutting or removing a file";
const READING: &str = "reading a file back";

/// What an operation's latency is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timed {
    /// All of it.
    Whole,
    /// The time in its syncs alone, which is what programs report of theirs.
    Syncs,
}

/// Files in which the commits of a slice are made.
struct Commits {
    folder: OwnedFd,
    files: Vec<CommitFile>,
    /// From which writes are made, each with its number in front.
    bytes: Vec<u8>,
    /// Which commit comes next.
    next: usize,
    writes: u64,
    /// What the latest commit wrote.
    latest: Vec<Written>,
}

struct CommitFile {
    name: CString,
    open: Option<OwnedFd>,
    /// How long it was at the start, where writes go round in it.
    size: u64,
    /// Where the last write ended.
    end: u64,
}

#[derive(Clone, Copy)]
struct Written {
    file: usize,
    offset: u64,
    bytes: usize,
    number: u64,
}

impl Commits {
    /// Creates the files with their sizes, whole and on the device.
    fn new(folder: OwnedFd, profile: &Profile, first: usize) -> Result<Self, StudyError> {
        let mut files = Vec::new();
        for (number, at_start) in profile.files.iter().enumerate() {
            let file_name = name(&format!("file-{number}"));
            let open = open_new(&folder, &file_name)?;
            fill(&open, *at_start)?;
            fsync(&open).doing(SYNCING)?;
            let size = at_start.bytes;
            files.push(CommitFile { name: file_name, open: Some(open), size, end: 0 });
        }
        fsync(&folder).doing(SYNCING)?;
        let bytes = random::bytes(profile.write_bytes_max(), 0);
        Ok(Self { folder, files, bytes, next: first, writes: 0, latest: Vec::new() })
    }

    /// The next commit. Gives back for how many ticks it was in syncs.
    fn commit(&mut self, profile: &Profile, timer: &mut SliceTimer) -> Result<u64, StudyError> {
        self.latest.clear();
        let steps = &profile.commits[self.next];
        self.next = (self.next + 1) % profile.commits.len();
        let mut sync_ticks = 0;
        for step in steps {
            match *step {
                Step::Write { file, at, bytes } => self.write(file, at, bytes)?,
                Step::Create(file) => {
                    timer.changed_name();
                    let of = &mut self.files[file];
                    of.open = Some(open_new(&self.folder, &of.name)?);
                    of.end = 0;
                }
                Step::Remove(file) => {
                    timer.changed_name();
                    self.files[file].open = None;
                    let name = &self.files[file].name;
                    unlinkat(&self.folder, name, AtFlags::empty()).doing(NAMING)?;
                    self.latest.retain(|written| written.file != file);
                }
                Step::Rename { from, to } => {
                    timer.changed_name();
                    let [old, new] = [from, to].map(|file| &self.files[file].name);
                    renameat(&self.folder, old, &self.folder, new).doing(NAMING)?;
                    self.files[to].open = self.files[from].open.take();
                    self.latest.retain(|written| written.file != to);
                    let moved = self.latest.iter_mut().filter(|written| written.file == from);
                    moved.for_each(|written| written.file = to);
                }
                Step::Truncate { file, to } => {
                    ftruncate(self.open(file)?, to).doing(NAMING)?;
                    self.files[file].end = self.files[file].end.min(to);
                    let kept = |w: &Written| w.file != file || w.offset + w.bytes as u64 <= to;
                    self.latest.retain(kept);
                }
                Step::Fsync(_) | Step::Fdatasync(_) | Step::SyncFolder => {
                    let before = timer.clock().ticks();
                    timer.sync(|| self.sync(step))?;
                    sync_ticks += timer.clock().ticks().saturating_sub(before);
                }
            }
        }
        Ok(sync_ticks)
    }

    fn open(&self, file: usize) -> Result<&OwnedFd, StudyError> {
        let open = self.files[file].open.as_ref();
        open.ok_or_else(|| StudyError::Unsuited(format!("a profile uses file {file} unmade")))
    }

    fn sync(&self, step: &Step) -> Result<(), StudyError> {
        match *step {
            Step::Fsync(file) => fsync(self.open(file)?).doing(SYNCING),
            Step::Fdatasync(file) => fdatasync(self.open(file)?).doing(SYNCING),
            _ => fsync(&self.folder).doing(SYNCING),
        }
    }

    #[inline]
    fn write(&mut self, file: usize, at: At, bytes: usize) -> Result<(), StudyError> {
        let CommitFile { end, size, .. } = self.files[file];
        let offset = match at {
            At::Offset(offset) => offset,
            At::Behind(by) => {
                let offset = end.saturating_add_signed(by);
                // A log that has its size already begins again.
                if size > 0 && offset + bytes as u64 > size { 0 } else { offset }
            }
        };
        let number = self.writes;
        stamp(&mut self.bytes[..bytes], number);
        let written = pwrite(self.open(file)?, &self.bytes[..bytes], offset).doing(WRITING)?;
        if written != bytes {
            return Err(StudyError::Short { doing: WRITING, written, wanted: bytes });
        }
        self.writes += 1;
        self.files[file].end = offset + bytes as u64;
        self.latest.push(Written { file, offset, bytes, number });
        Ok(())
    }

    /// Holds what the latest commit wrote against what is there, but for what it wrote over
    /// itself.
    fn account(&mut self) -> Result<Integrity, StudyError> {
        let mut integrity = Integrity::default();
        for (at, written) in self.latest.iter().enumerate() {
            let Written { file, offset, bytes, number } = *written;
            let is_over = |later: &Written| {
                later.file == file
                    && later.offset < offset + bytes as u64
                    && offset < later.offset + later.bytes as u64
            };
            if self.latest[at + 1..].iter().any(is_over) {
                continue;
            }
            integrity.records += 1;
            let mut found = vec![0; bytes];
            let got = read_as_far(self.open(file)?, &mut found, offset)?;
            stamp(&mut self.bytes[..bytes], number);
            match got {
                0 if bytes > 0 => integrity.lost += 1,
                got if got < bytes => integrity.torn += 1,
                _ if found != self.bytes[..bytes] => integrity.overwritten += 1,
                _ => {}
            }
        }
        Ok(integrity)
    }
}

/// Reads from an offset on until `bytes` is full or the file ends; how far that was.
fn read_as_far(file: &OwnedFd, bytes: &mut [u8], offset: u64) -> Result<usize, StudyError> {
    let mut got = 0;
    while got < bytes.len() {
        match pread(file, &mut bytes[got..], offset + got as u64).doing(READING)? {
            0 => break,
            more => got += more,
        }
    }
    Ok(got)
}

/// Gives a new file its size.
fn fill(file: &OwnedFd, FileAtStart { bytes, written }: FileAtStart) -> Result<(), StudyError> {
    if written {
        let zeros = vec![0; bytes as usize];
        return write_whole(file, &zeros, CREATING);
    }
    if bytes == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => ftruncate(file, bytes),
        allocated => allocated,
    }
    .doing(CREATING)
}

fn open_new(folder: &OwnedFd, name: &CString) -> Result<OwnedFd, StudyError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::RUSR | Mode::WUSR).doing(CREATING)
}

/// An arm that makes commits.
pub(super) struct CommitsArm {
    profile: Profile,
    timed: Timed,
    /// Which commit the next slice begins with.
    next: usize,
}

impl CommitsArm {
    pub(super) fn new(profile: Profile, timed: Timed) -> Self {
        Self { profile, timed, next: 0 }
    }
}

impl Workload for CommitsArm {
    fn about(&self) -> About {
        let granule = match (self.profile.is_synced(), self.profile.changes_names()) {
            (true, _) => SYNCED_LEAST,
            (false, true) => NAMES_LEAST,
            (false, false) => CACHED_LEAST,
        };
        About { warms_up: false, ..About::of(Operations { granule, max: COMMITS_MAX }) }
    }

    fn footprint(&self, operations: u64) -> Footprint {
        self.profile.footprint(operations)
    }

    fn ready<'a>(
        &'a mut self,
        folders: SliceFolders<'_>,
        operations: u64,
        _timer: &SliceTimer,
    ) -> Result<Box<dyn Ready<'a> + 'a>, StudyError> {
        let folder = keep_open(folders.fresh)?;
        let commits = Commits::new(folder, &self.profile, self.next)?;
        Ok(Box::new(Waiting { arm: self, commits, operations }))
    }
}

struct Waiting<'a> {
    arm: &'a mut CommitsArm,
    commits: Commits,
    operations: u64,
}

impl<'a> Ready<'a> for Waiting<'a> {
    fn run(self: Box<Self>, timer: &mut SliceTimer) -> Result<Box<dyn Ran + 'a>, StudyError> {
        let Self { arm, mut commits, operations } = *self;
        let mut bytes = 0;
        for _ in 0..operations {
            let sync_ticks = commits.commit(&arm.profile, timer)?;
            bytes += commits.latest.iter().map(|written| written.bytes as u64).sum::<u64>();
            match arm.timed {
                Timed::Whole => timer.lap(),
                Timed::Syncs => timer.completed(timer.clock().ticks() - sync_ticks),
            }
            timer.check_stop()?;
        }
        timer.requested(bytes);
        arm.next = commits.next;
        Ok(Box::new(commits))
    }
}

impl Ran for Commits {
    fn flush(&mut self) -> Result<(), StudyError> {
        let open = self.files.iter().filter_map(|file| file.open.as_ref());
        open.into_iter().try_for_each(|file| fdatasync(file).doing(SYNCING))
    }

    fn finish(mut self: Box<Self>) -> Result<Outcome, StudyError> {
        let integrity = self.account()?;
        Ok(Outcome { integrity: Some(integrity), ..Outcome::default() })
    }
}
