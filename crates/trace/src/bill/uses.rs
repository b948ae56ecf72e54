//! What was done with each file: what patterns are recognised from.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;

use super::kind::{KINDS, Kind};
use super::moved::copied_to;
use crate::call::Call;
use crate::flags::{AT_SYMLINK_NOFOLLOW, ENOENT, O_DSYNC, O_RDWR, O_TMPFILE, O_TRUNC, O_WRONLY};
use crate::follow::{Followed, OpenFile, Place};
use crate::op::Op;

/// How many files are told apart. When there are more, the half in which the least time was
/// spent is forgotten.
const FILES_MAX: usize = 8192;
/// How many open files are.
const OPEN_MAX: usize = 1 << 16;
/// How many threads of a file are told apart, and how many processes.
const THREADS_MAX: usize = 64;
/// How many names of programs are kept.
const PROGRAMS_MAX: usize = 1024;
/// A record is written at once, or its text and its newline apart.
const BRIEF_WRITES_MAX: u64 = 2;
/// mmap(2): pages may be run, as those of libraries.
const PROT_EXEC: u64 = 4;
/// Where SQLite locks a database for one that writes (`RESERVED_BYTE` in its os.h), and the same
/// in the index of a write-ahead log (`WAL_WRITE_LOCK` at `UNIX_SHM_BASE`).
const SQLITE_WRITER: i64 = 0x4000_0001;
const SQLITE_WAL_WRITER: i64 = 120;
/// fcntl(2): a lock that nobody shares.
const F_WRLCK: u32 = 1;
/// How much of a journal SQLite overwrites with zeros to end a transaction (`zeroHdr`).
const SQLITE_ZEROED_BYTES: i64 = 28;

/// How many calls there were, and their time in nanoseconds, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) calls: u64,
    pub(crate) ns: u64,
}

impl Tally {
    fn add(&mut self, ns: u64) {
        self.calls += 1;
        self.ns = self.ns.saturating_add(ns);
    }
}

/// What was done with one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileUse {
    pub(crate) calls: u64,
    /// By kind of call, threads in parallel added up.
    kinds: [Tally; KINDS],
    pub(crate) opens: u64,
    /// Times that it was looked at by its name.
    pub(crate) looks: u64,
    /// Times that it was looked for, opened or removed, and not there.
    pub(crate) missing: Tally,
    /// access(2) of it, where it is there.
    pub(crate) asked: Tally,
    /// lstat(2) of it, by which programs resolve links, where it is there.
    pub(crate) resolved: Tally,
    pub(crate) reads: u64,
    pub(crate) read_bytes: u64,
    pub(crate) writes: u64,
    pub(crate) written_bytes: u64,
    /// Writes at the end, or where the one before had stopped.
    pub(crate) writes_in_order: u64,
    pub(crate) syncs: u64,
    /// Syncs after a single write.
    pub(crate) syncs_of_one: u64,
    /// Time of the writes that are syncs as well.
    written_through_ns: u64,
    /// Times that it was opened for one or two writes.
    pub(crate) brief: u64,
    /// Those with a sync.
    pub(crate) brief_synced: u64,
    /// Times that a process opened and read it although that had, and it had not changed.
    pub(crate) again: u64,
    pub(crate) again_bytes: u64,
    pub(crate) again_ns: u64,
    /// Calls that took a lock.
    pub(crate) locks: u64,
    pub(crate) longest_lock_ns: u64,
    /// Threads that wrote to it or took a lock on it.
    pub(crate) writers: BTreeSet<u32>,
    pub(crate) removed: u64,
    /// Times that it was given another name.
    pub(crate) renamed: u64,
    /// Whether its name was there after the last call on it.
    is_there: bool,
    /// Times that another file, just written and not synced, took its place.
    pub(crate) replaced: Tally,
    pub(crate) replaced_bytes: u64,
    /// Times that it was cut to nothing.
    pub(crate) emptied: u64,
    /// Writes over its beginning of as much as ends a journal of SQLite.
    pub(crate) zeroed: u64,
    /// Locks as SQLite takes them to write.
    pub(crate) sqlite_writer_locks: u64,
    /// Processes that have read it to a close since it changed.
    read_by: BTreeSet<u32>,
}

impl FileUse {
    /// Time of all kinds.
    pub(crate) fn all_ns(&self) -> u64 {
        self.kinds.iter().fold(0, |sum, kind| sum.saturating_add(kind.ns))
    }

    pub(crate) fn kind_ns(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize].ns
    }

    fn is_unsynced(&self) -> bool {
        self.written_bytes > 0 && self.syncs == 0
    }

    /// Time of what forces data to the device.
    pub(crate) fn forced_ns(&self) -> u64 {
        self.kind_ns(Kind::Sync).saturating_add(self.written_through_ns)
    }

    pub(crate) fn kind_calls(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize].calls
    }
}

/// What was done through one open file so far.
#[derive(Debug, Default)]
struct OpenUse {
    ns: u64,
    writes: u64,
    /// Those since the last sync.
    unsynced: u64,
    syncs: u64,
    read_bytes: u64,
    is_program: bool,
    /// Where the last write stopped.
    next: Option<u64>,
}

impl OpenUse {
    fn is_brief(&self) -> bool {
        (1..=BRIEF_WRITES_MAX).contains(&self.writes)
    }
}

/// Names that were looked up: all of them together, also those of files that are forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    pub(crate) times: u64,
    pub(crate) missing: u64,
    pub(crate) ns: u64,
}

/// What was done with all files.
#[derive(Default)]
pub(crate) struct Uses {
    looks: Looks,
    files: HashMap<Arc<[u8]>, FileUse>,
    open: HashMap<u64, OpenUse>,
    forgotten: u64,
    /// Names of the programs that were run.
    programs: BTreeSet<String>,
}

impl Uses {
    /// Each file that is told apart.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&[u8], &FileUse)> {
        self.files.iter().map(|(path, file)| (&**path, file))
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<&FileUse> {
        self.files.get(path)
    }

    /// All names that were looked up.
    pub(crate) fn looks(&self) -> Looks {
        self.looks
    }

    /// The names of programs that were run, without their folders.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> + Clone {
        self.programs.iter().map(String::as_str)
    }

    /// A program was run.
    pub(crate) fn ran(&mut self, path: &[u8]) {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        if self.programs.len() < PROGRAMS_MAX {
            self.programs.insert(String::from_utf8_lossy(name).into_owned());
        }
    }

    /// How many were forgotten.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Takes a call on a stored file that took so long.
    pub(crate) fn take(&mut self, call: &Call, followed: &Followed, kind: Kind, ns: u64) {
        let Some(path) = &followed.about else { return };
        let on = if call.op == Op::Open { &followed.made[0] } else { &followed.file };
        let unnamed = on.as_deref().filter(|on| on.flags & O_TMPFILE == O_TMPFILE);
        let named = unnamed.map(|on| name_of(path, on));
        let path = named.as_ref().unwrap_or(path);
        // What is asked of an open file is no name.
        let looks_up = kind == Kind::Look && followed.path.is_some();
        if looks_up {
            self.looks.times += 1;
            // What is no symbolic link is refused by readlink, and is there.
            self.looks.missing += u64::from(call.result == ENOENT);
            self.looks.ns = self.looks.ns.saturating_add(ns);
        }
        let is_known = self.files.contains_key(path);
        if !is_known && self.files.len() >= FILES_MAX {
            self.forget();
        }
        let file = self.files.entry(Arc::clone(path)).or_default();
        file.calls += 1;
        file.kinds[kind as usize].add(ns);
        if call.result == ENOENT {
            file.missing.add(ns);
        }
        file.looks += u64::from(looks_up);
        let mut open = match on {
            Some(open) if followed.path.is_none() || call.op == Op::Open => {
                Some(Self::open(&mut self.open, open))
            }
            _ => None,
        };
        if let Some(open) = &mut open {
            open.ns = open.ns.saturating_add(ns);
        }
        if !call.failed() {
            match kind {
                Kind::Read => file.read(call, open),
                Kind::Write => file.write(call, followed, ns, open),
                Kind::Sync => file.sync(open),
                Kind::Lock => file.lock(call, ns),
                Kind::Look => file.look(call, ns),
                _ => file.other(call, open),
            }
        }
        if followed.path.is_some() {
            let left = !call.failed() && matches!(call.op, Op::Unlink | Op::Rename);
            file.is_there = call.result != ENOENT && !left;
        }
        // It may be open by other descriptors: a shell writes by its standard output alone.
        if let (Op::Close, Some(closed)) = (call.op, &followed.file)
            && let Some(open) = self.open.get_mut(&closed.number)
        {
            file.close(open, followed.process);
            // The follower let go of it with the last descriptor.
            if Arc::strong_count(closed) == 1 {
                self.open.remove(&closed.number);
            }
        }
        let wrote = (call.op == Op::Rename && file.is_unsynced())
            .then(|| file.written_bytes / file.renamed.max(1));
        if let (Op::Rename | Op::Link, Some(to), false) = (call.op, &followed.to, call.failed()) {
            self.take_the_place(to, wrote, ns);
        }
        if let (Kind::Read, Some(to)) = (kind, copied_to(call, followed)) {
            self.take_a_copy(to, call.result.max(0).unsigned_abs());
        }
    }

    /// Notes that so many bytes were copied to a file.
    fn take_a_copy(&mut self, to: &Arc<[u8]>, bytes: u64) {
        if self.files.len() < FILES_MAX || self.files.contains_key(to) {
            let to = self.files.entry(Arc::clone(to)).or_default();
            to.written_bytes = to.written_bytes.saturating_add(bytes);
            to.read_by.clear();
        }
    }

    /// Notes that a file was renamed or linked to `to`, in `ns`. `wrote` is how much was written to it
    /// without a sync.
    fn take_the_place(&mut self, to: &Arc<[u8]>, wrote: Option<u64>, ns: u64) {
        let is_known = self.files.contains_key(to);
        if !is_known && (wrote.is_none() || self.files.len() >= FILES_MAX) {
            return;
        }
        let to = self.files.entry(Arc::clone(to)).or_default();
        to.read_by.clear();
        let was_there = mem::replace(&mut to.is_there, true);
        if let Some(bytes) = wrote.filter(|_| was_there) {
            to.replaced.add(ns);
            to.replaced_bytes = to.replaced_bytes.saturating_add(bytes);
        }
    }

    fn open<'a>(all: &'a mut HashMap<u64, OpenUse>, open: &OpenFile) -> &'a mut OpenUse {
        if all.len() >= OPEN_MAX && !all.contains_key(&open.number) {
            // Those that nobody closed are of programs that ended.
            all.clear();
        }
        all.entry(open.number).or_default()
    }

    fn forget(&mut self) {
        let mut times: Vec<u64> = self.files.values().map(FileUse::all_ns).collect();
        times.sort_unstable_by_key(|ns| Reverse(*ns));
        let least = times.get(FILES_MAX / 2).copied().unwrap_or_default();
        let before = self.files.len();
        self.files.retain(|_, file| file.all_ns() > least);
        self.forgotten += (before - self.files.len()) as u64;
    }
}

/// A name for a file that was opened without one in this folder, which no other has.
fn name_of(folder: &[u8], file: &OpenFile) -> Arc<[u8]> {
    [folder, format!("/#{}", file.number).as_bytes()].concat().into()
}

impl FileUse {
    fn look(&mut self, call: &Call, ns: u64) {
        match call.op {
            Op::Access => self.asked.add(ns),
            Op::Stat if call.flags & AT_SYMLINK_NOFOLLOW != 0 => self.resolved.add(ns),
            _ => {}
        }
    }

    fn read(&mut self, call: &Call, open: Option<&mut OpenUse>) {
        let bytes = call.result as u64;
        self.reads += 1;
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        if let Some(open) = open {
            open.read_bytes = open.read_bytes.saturating_add(bytes);
        }
    }

    fn write(&mut self, call: &Call, followed: &Followed, ns: u64, open: Option<&mut OpenUse>) {
        let (place, bytes) = (followed.place, call.result as u64);
        self.writes += 1;
        self.written_bytes = self.written_bytes.saturating_add(bytes);
        self.read_by.clear();
        self.add_writer(call.thread);
        let at = match place {
            Place::At(at) => Some(at),
            Place::End | Place::None | Place::Unknown => None,
        };
        self.zeroed += u64::from(at == Some(0) && call.result == SQLITE_ZEROED_BYTES);
        let on = followed.file.as_ref();
        let is_sync = call.writes_through() || on.is_some_and(|on| on.flags & O_DSYNC > 0);
        if is_sync {
            self.written_through_ns = self.written_through_ns.saturating_add(ns);
        }
        let Some(open) = open else {
            self.syncs += u64::from(is_sync);
            return;
        };
        let goes_on = at.is_some() && (open.next == at || open.writes == 0);
        self.writes_in_order += u64::from(goes_on || place == Place::End);
        open.next = at.and_then(|at| at.checked_add(bytes));
        open.writes += 1;
        open.unsynced += 1;
        let was_synced = u64::from(open.syncs > 0);
        if open.writes == 1 {
            self.brief += 1;
            self.brief_synced += was_synced;
        } else if open.writes == BRIEF_WRITES_MAX + 1 {
            self.brief = self.brief.saturating_sub(1);
            self.brief_synced = self.brief_synced.saturating_sub(was_synced);
        }
        if is_sync {
            self.sync(Some(open));
        }
    }

    fn sync(&mut self, open: Option<&mut OpenUse>) {
        self.syncs += 1;
        let Some(open) = open else { return };
        open.syncs += 1;
        self.brief_synced += u64::from(open.syncs == 1 && open.is_brief());
        self.syncs_of_one += u64::from(open.unsynced == 1);
        open.unsynced = 0;
    }

    fn lock(&mut self, call: &Call, ns: u64) {
        if call.unlocks() {
            return;
        }
        self.locks += 1;
        self.longest_lock_ns = self.longest_lock_ns.max(ns);
        self.add_writer(call.thread);
        let for_writing = call.op == Op::Lock && call.mode == F_WRLCK;
        if for_writing && [SQLITE_WRITER, SQLITE_WAL_WRITER].contains(&call.offset) {
            self.sqlite_writer_locks += 1;
        }
    }

    fn other(&mut self, call: &Call, open: Option<&mut OpenUse>) {
        match call.op {
            Op::Open => {
                self.opens += 1;
                let writes = call.flags & (O_WRONLY | O_RDWR) > 0;
                if writes && call.flags & O_TRUNC > 0 {
                    self.read_by.clear();
                }
            }
            Op::Map => {
                if let Some(open) = open {
                    open.is_program |= call.flags & PROT_EXEC > 0;
                    open.read_bytes = open.read_bytes.saturating_add(call.length);
                }
            }
            Op::Truncate => {
                self.read_by.clear();
                self.emptied += u64::from(call.length == 0);
            }
            Op::Unlink => {
                self.read_by.clear();
                self.removed += 1;
            }
            Op::Rename => {
                self.read_by.clear();
                self.renamed += 1;
            }
            Op::Allocate => self.read_by.clear(),
            _ => {}
        }
    }

    fn close(&mut self, closed: &mut OpenUse, process: u32) {
        if closed.writes > 0 || closed.read_bytes == 0 || closed.is_program {
            return;
        }
        if self.read_by.contains(&process) {
            self.again += 1;
            self.again_bytes = self.again_bytes.saturating_add(closed.read_bytes);
            self.again_ns = self.again_ns.saturating_add(closed.ns);
        }
        if self.read_by.len() < THREADS_MAX {
            self.read_by.insert(process);
        }
        (closed.read_bytes, closed.ns) = (0, 0);
    }

    fn add_writer(&mut self, thread: u32) {
        if self.writers.len() < THREADS_MAX {
            self.writers.insert(thread);
        }
    }
}
