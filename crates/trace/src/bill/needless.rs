//! Work with files that a program could leave out: files that are made and removed again, bytes that
//! are overwritten before they are forced to the device, bytes that are read twice, syncs of files that
//! are removed later, and small reads.
//!
//! A program that syncs a file may need it after a crash. A database's rollback journal is made, synced,
//! and removed once the database is synced: so a file is not needless if another was synced between its
//! own sync and its end.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::Bill;
use super::folders::{above, text};
use super::kind::Kind;
use super::ranges::Ranges;
use crate::call::Call;
use crate::flags::{O_CREAT, O_EXCL, O_TRUNC};
use crate::follow::{Followed, Place};
use crate::listed::listed;
use crate::op::Op;

/// As many files, and folders, are told apart at a time.
const FILES_MAX: usize = 8192;
/// A read of so little costs its call and hardly its bytes.
const SMALL_BYTES: i64 = 512;
/// A folder has nearly all of something from this share on.
const NEARLY_ALL: f64 = 0.8;

/// Work that a program could leave out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Needless {
    /// Which.
    pub kind: NeedlessKind,
    /// The deepest folder that has nearly all of it.
    pub folder: String,
    /// How many files, or how many calls of those that read or sync.
    pub times: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How long it took, added up over threads.
    pub summed_ns: u64,
    /// Its part of the time in which the program was busy.
    pub share: f64,
    /// Of scratch files, whether nothing else that was used is below the folder.
    pub alone: bool,
}

listed! {
    /// Which work.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum NeedlessKind {
        /// All calls on files that were made and removed within the recording, and never synced.
        Scratch,
        /// Writes over what was written and not forced to the device yet.
        Overwritten,
        /// Reads of what had been read, and was not written since.
        ReadTwice,
        /// Syncs of files that were removed later, before any other file was synced.
        SyncedThenRemoved,
        /// Reads of 512 bytes and less.
        SmallReads,
    }
}

/// What is known of a file.
#[derive(Default)]
struct Track {
    /// Whether it was there before the recording, if that is known: who looks at its path later may
    /// find nothing of a file that was.
    was_there: Option<bool>,
    /// A call that makes a file or fails has made it.
    exclusive: bool,
    /// A call on it succeeded.
    used: bool,
    /// It has another name, so that what becomes of this one says nothing of the file.
    linked: bool,
    ns: u64,
    bytes: u64,
    syncs: u64,
    sync_ns: u64,
    /// How many syncs of any file came before its first.
    synced_before: u64,
    unsynced: Ranges,
    seen: Ranges,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    times: u64,
    bytes: u64,
    ns: u64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.times += other.times;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

/// All of it so far.
#[derive(Default)]
pub(crate) struct NeedlessWork {
    files: HashMap<Arc<[u8]>, Track>,
    /// Folders that were made within the recording.
    folders: HashSet<Arc<[u8]>>,
    sums: HashMap<(NeedlessKind, Arc<[u8]>), Sum>,
    /// Syncs of all files.
    syncs: u64,
}

impl NeedlessWork {
    /// Nothing was found at a path, or what was made after the recording began.
    pub(super) fn missing(&mut self, path: &[u8]) {
        if let Some(track) = self.files.get_mut(path) {
            track.was_there.get_or_insert(false);
        }
    }

    /// Takes a call on a stored file that took so long.
    pub(super) fn take(&mut self, call: &Call, followed: &Followed, kind: Kind, ns: u64) {
        let Some(path) = &followed.about else { return };
        if call.op == Op::Mkdir && !call.failed() && self.folders.len() < FILES_MAX {
            self.folders.insert(Arc::clone(path));
        }
        if self.files.len() >= FILES_MAX && !self.files.contains_key(path) {
            self.files.clear();
        }
        let track = self.files.entry(Arc::clone(path)).or_default();
        track.ns = track.ns.saturating_add(ns);
        if call.failed() {
            return;
        }
        if track.shows_that_it_was_there(call, kind) {
            track.was_there = Some(true);
        }
        track.used = true;
        let at = match followed.place {
            Place::At(at) => Some(at),
            Place::None | Place::End | Place::Unknown => None,
        };
        let bytes = u64::try_from(call.result).unwrap_or(0);
        let part = |of: u64| (ns as f64 * of as f64 / bytes.max(1) as f64) as u64;
        match kind {
            Kind::Open if call.op == Op::Open => track.open(call),
            Kind::Read if call.op == Op::Read => {
                track.bytes = track.bytes.saturating_add(bytes);
                let again = at.map_or(0, |at| track.seen.add(at, bytes));
                self.add(NeedlessKind::ReadTwice, path, u64::from(again > 0), again, part(again));
                if (1..=SMALL_BYTES).contains(&call.result) {
                    self.add(NeedlessKind::SmallReads, path, 1, bytes, ns);
                }
            }
            Kind::Write => {
                track.bytes = track.bytes.saturating_add(bytes);
                let over = at.map_or(0, |at| track.unsynced.add(at, bytes));
                match at {
                    Some(at) => track.seen.remove(at, bytes),
                    None => track.seen.clear(),
                }
                self.add(NeedlessKind::Overwritten, path, u64::from(over > 0), over, part(over));
            }
            Kind::Sync => {
                track.sync(self.syncs, ns);
                self.syncs += 1;
            }
            _ if call.op == Op::Truncate => track.forget(),
            _ if call.op == Op::Unlink => self.removed(path),
            _ if call.op == Op::Rmdir => drop(self.files.remove(path)),
            _ => {}
        }
        match (call.op, &followed.to) {
            (Op::Rename, Some(to)) => {
                if let Some(track) = self.files.remove(path) {
                    self.files.insert(Arc::clone(to), track);
                }
            }
            (Op::Link, to) => {
                for name in [Some(path), to.as_ref()].into_iter().flatten() {
                    let track = self.files.entry(Arc::clone(name)).or_default();
                    (track.used, track.linked) = (true, true);
                }
            }
            _ => {}
        }
    }

    fn removed(&mut self, path: &Arc<[u8]>) {
        let Some(track) = self.files.remove(path).filter(|track| !track.linked) else { return };
        if track.syncs > 0 {
            if self.syncs == track.synced_before + track.syncs {
                self.add(NeedlessKind::SyncedThenRemoved, path, track.syncs, 0, track.sync_ns);
            }
        } else if track.was_there == Some(false) && track.bytes > 0 {
            self.add(NeedlessKind::Scratch, path, 1, track.bytes, track.ns);
        }
    }

    fn add(&mut self, kind: NeedlessKind, path: &[u8], times: u64, bytes: u64, ns: u64) {
        if times == 0 {
            return;
        }
        let mut folder = above(path);
        // One that was made for these files is not there the next time.
        while self.folders.contains(folder) {
            folder = above(folder);
        }
        let key = (kind, Arc::from(folder));
        if self.sums.len() < FILES_MAX || self.sums.contains_key(&key) {
            self.sums.entry(key).or_default().add(Sum { times, bytes, ns });
        }
    }

    /// What is worth telling, the one with the most time first.
    pub(crate) fn found(&self, bill: &Bill, least: f64) -> Vec<Needless> {
        let mut all: Vec<Needless> =
            NeedlessKind::ALL.into_iter().filter_map(|kind| self.of(kind, bill)).collect();
        all.retain(|one| one.share >= least);
        all.sort_by_key(|one| Reverse(one.summed_ns));
        all
    }

    fn of(&self, kind: NeedlessKind, bill: &Bill) -> Option<Needless> {
        let mut below: HashMap<&[u8], Sum> = HashMap::new();
        for ((_, folder), sum) in self.sums.iter().filter(|((of, _), _)| *of == kind) {
            let mut folder = &**folder;
            loop {
                below.entry(folder).or_default().add(*sum);
                let next = above(folder);
                if next == folder {
                    break;
                }
                folder = next;
            }
        }
        let all = below.values().copied().max_by_key(|sum| sum.times)?;
        let has_most = |sum: &Sum| sum.times as f64 >= all.times as f64 * NEARLY_ALL;
        let most = below.iter().filter(|(_, sum)| has_most(sum)).map(|(folder, _)| *folder);
        let folder = most.max_by_key(|folder| (folder.len(), *folder))?;
        let is_below = |path: &[u8]| {
            path.strip_prefix(folder).is_some_and(|rest| folder == b"/" || rest.starts_with(b"/"))
        };
        let others = self.files.iter().any(|(path, track)| track.used && is_below(path));
        Some(Needless {
            kind,
            folder: text(folder),
            times: all.times,
            bytes: all.bytes,
            summed_ns: all.ns,
            share: bill.part_of(all.ns),
            alone: kind == NeedlessKind::Scratch && !others,
        })
    }
}

impl Track {
    /// Whether a call that succeeded needs a file that was there before the recording: the first on
    /// it that does not make it, or a read of what nobody has written.
    fn shows_that_it_was_there(&self, call: &Call, kind: Kind) -> bool {
        let makes = match call.op {
            Op::Open => call.flags & O_CREAT > 0,
            op => matches!(op, Op::Mkdir | Op::Mknod | Op::Symlink | Op::Link),
        };
        let reads_old = kind == Kind::Read && self.bytes == 0 && call.result > 0;
        reads_old && !self.exclusive || self.was_there.is_none() && !self.used && !makes
    }

    fn open(&mut self, call: &Call) {
        let makes = call.flags & O_CREAT > 0;
        if makes && call.flags & O_EXCL > 0 {
            (self.was_there, self.exclusive) = (Some(false), true);
        }
        if call.flags & O_TRUNC > 0 {
            self.forget();
        }
    }

    /// Takes a sync of it, before which there were `before` syncs of any file.
    fn sync(&mut self, before: u64, ns: u64) {
        if self.syncs == 0 {
            self.synced_before = before;
        }
        self.syncs += 1;
        self.sync_ns = self.sync_ns.saturating_add(ns);
        self.unsynced.clear();
    }

    /// Its contents are gone.
    fn forget(&mut self) {
        self.unsynced.clear();
        self.seen.clear();
    }
}
