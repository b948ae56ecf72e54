//! What a recording says about what could matter: folders with time in them, syncs, scratch files, and
//! the files that it used.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use trace::{Bill, Call, Entry, Followed, Follower, Op, TraceReader, Unseen};

/// A folder or a kind of file matters from this share of the time on.
const MATTERS: f64 = 0.02;
/// A folder stands for the one that it is in where it has this share of it.
const STANDS_FOR: f64 = 0.8;
/// So many folders are tried by themselves.
const FOLDERS_MAX: usize = 3;
/// More files than this are not remembered.
const FILES_MAX: usize = 200_000;
/// The kernel answers below these from itself; `/dev/shm` has files in memory.
const OF_THE_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
const IN_MEMORY: &str = "/dev/shm";

/// What is only read there belongs to the system, and is in memory once it was used.
const OF_THE_SYSTEM: [&str; 3] = ["/usr", "/lib", "/etc"];

const O_CREAT: u64 = 0o100;
const READ_ONLY: i64 = -30;

/// What a recording says.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The folders that matter by themselves, the one with the most time first.
    pub folders: Vec<FolderShare>,
    /// Its syncs.
    pub syncs: Syncs,
    /// Folders with files that the command made, read and removed again, where these matter.
    pub scratch: Vec<Scratch>,
    /// Programs that gain rights by a set-user-ID bit, which they do not in a user namespace.
    pub privileged: BTreeSet<PathBuf>,
    /// What it tried to change and could not, because nothing else can be written.
    pub refused: BTreeSet<PathBuf>,
    /// All files that it used.
    pub(crate) files: BTreeSet<PathBuf>,
}

/// A folder's time.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderShare {
    /// Which.
    pub path: PathBuf,
    /// The time of calls in it and below, threads in parallel added up, as a share of the time in which
    /// the program was busy.
    pub share: f64,
    /// What of that were syncs, from 0 to 1.
    pub syncs: f64,
}

/// How the command forces data to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Syncs {
    /// Calls that a filter can answer.
    pub calls: u64,
    /// What does so without such a call: opens with `O_SYNC` or `O_DSYNC`, writes with `RWF_DSYNC`,
    /// and syncs by `io_uring`.
    pub unfiltered: u64,
    /// Their time as a share of the time in which the program was busy.
    pub share: f64,
}

/// Files that the command made, read and removed again.
#[derive(Clone, Debug, PartialEq)]
pub struct Scratch {
    /// Their folder.
    pub folder: PathBuf,
    /// How many.
    pub files: u64,
    /// Their time, as of [`FolderShare`].
    pub share: f64,
    /// Whether it forced any of them to the device: it may count on finding them after a crash.
    pub synced: bool,
    /// Whether nearly all of the folder's time is theirs.
    pub is_all: bool,
}

/// What was done with one path.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    ns: u64,
    sync_ns: u64,
    is_made: bool,
    is_read: bool,
    is_removed: bool,
}

impl Recorded {
    /// Reads a recording, which has such a bill.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read<R: Read>(reader: &mut TraceReader<R>, bill: &Bill) -> Result<Self, trace::Error> {
        let within = reader.header().overhead_within_ns;
        let within_ns = i64::midpoint(within.low, within.high);
        let mut reading = Reading { within_ns, ..Reading::default() };
        while let Some(entry) = reader.next_entry()? {
            reading.take(&entry);
        }
        let busy_ns = bill.busy_ns.low.midpoint(bill.busy_ns.high).max(1) as f64;
        Ok(reading.recorded(busy_ns))
    }
}

#[derive(Default)]
struct Reading {
    within_ns: i64,
    follower: Follower,
    uses: BTreeMap<PathBuf, Use>,
    syncs: Syncs,
    sync_ns: u64,
    programs: BTreeSet<PathBuf>,
    refused: BTreeSet<PathBuf>,
}

impl Reading {
    fn take(&mut self, entry: &Entry) {
        let followed = self.follower.follow(entry);
        match entry {
            Entry::Exec { thread, program: Some(program), .. } => {
                if let Some(path) = self.follower.absolute(*thread, *program) {
                    self.programs.insert(path_of(&path));
                }
            }
            Entry::Unseen { kind: Unseen::IoUring, count } => self.syncs.unfiltered += count,
            Entry::Call(call) => {
                if let Some(followed) = followed {
                    self.call(call, &followed);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &Call, followed: &Followed) {
        let took_ns = call.took_ns.saturating_add_signed(self.within_ns.saturating_neg());
        let is_sync = matches!(
            call.op,
            Op::Fsync | Op::Fdatasync | Op::Syncfs | Op::Sync | Op::Msync | Op::SyncRange
        );
        if is_sync {
            self.syncs.calls += 1;
            self.sync_ns += took_ns;
        }
        self.syncs.unfiltered += u64::from(call.writes_through() || call.op == Op::RingSync);
        let Some(path) = followed.about.as_deref().map(path_of).filter(|path| is_stored(path))
        else {
            return;
        };
        if call.result == READ_ONLY {
            self.refused.insert(path.clone());
        }
        if self.uses.len() >= FILES_MAX && !self.uses.contains_key(&path) {
            return;
        }
        let made = call.op == Op::Open && call.flags & O_CREAT > 0 && !call.failed();
        let found = self.uses.entry(path.clone()).or_default();
        found.ns += took_ns;
        found.sync_ns += if is_sync { took_ns } else { 0 };
        found.is_made |= made;
        let reads =
            matches!(call.op, Op::Read | Op::Map | Op::Sendfile | Op::CopyRange | Op::RingRead);
        found.is_read |= reads && call.result > 0;
        if call.failed() {
            return;
        }
        match (call.op, &followed.to) {
            (Op::Unlink, _) => found.is_removed = true,
            (Op::Rename, Some(to)) => {
                let moved = std::mem::take(found);
                let to = self.uses.entry(path_of(to)).or_default();
                to.ns += moved.ns;
                to.sync_ns += moved.sync_ns;
                to.is_made |= moved.is_made;
                to.is_read |= moved.is_read;
            }
            _ => {}
        }
    }

    fn recorded(self, busy_ns: f64) -> Recorded {
        let mut tree = Folders::default();
        let mut scratch = Folders::default();
        let mut counts: BTreeMap<PathBuf, (u64, bool)> = BTreeMap::new();
        for (path, used) in &self.uses {
            let folder = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
            tree.add(folder, used);
            // One that is there was there before, for the user's own files are never changed.
            let is_scratch = used.is_made && used.is_read && used.is_removed && !path.exists();
            if is_scratch {
                scratch.add(folder, used);
                let (files, synced) = counts.entry(folder.to_owned()).or_default();
                *files += 1;
                *synced |= used.sync_ns > 0;
            }
        }
        let share = |ns: u64| ns as f64 / busy_ns;
        let folder_of = |path: PathBuf| {
            let (ns, sync_ns) = tree.of(&path);
            let path = path.canonicalize().ok()?;
            let is_own = OF_THE_SYSTEM.iter().all(|folder| !path.starts_with(folder));
            let syncs = sync_ns as f64 / ns.max(1) as f64;
            is_own.then_some(FolderShare { path, share: share(ns), syncs })
        };
        let mut folders: Vec<FolderShare> =
            tree.matter((busy_ns * MATTERS) as u64).into_iter().filter_map(folder_of).collect();
        folders.sort_by(|one, other| other.share.total_cmp(&one.share));
        folders.truncate(FOLDERS_MAX);
        let scratch_of = |folder: PathBuf| {
            let within = counts.iter().filter(|(path, _)| path.starts_with(&folder));
            let (files, synced) = within
                .fold((0, false), |(files, any), (_, (more, synced))| (files + more, any | synced));
            let (ns, all) = (scratch.of(&folder).0, tree.of(&folder).0);
            let is_all = ns as f64 >= STANDS_FOR * all as f64;
            Scratch { folder, files, share: share(ns), synced, is_all }
        };
        let gains = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|facts| facts.permissions().mode() & 0o6000 != 0)
        };
        Recorded {
            folders,
            syncs: Syncs { share: share(self.sync_ns), ..self.syncs },
            scratch: scratch
                .matter((busy_ns * MATTERS) as u64)
                .into_iter()
                .map(scratch_of)
                .collect(),
            privileged: self.programs.iter().filter(|path| gains(path)).cloned().collect(),
            refused: self.refused,
            files: self.uses.into_keys().chain(self.programs).collect(),
        }
    }
}

fn path_of(path: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path))
}

fn is_stored(path: &Path) -> bool {
    let of_the_kernel = OF_THE_KERNEL.iter().any(|folder| path.starts_with(folder));
    path.is_absolute() && (!of_the_kernel || path.starts_with(IN_MEMORY))
}

/// The time in each folder and below, and what of it were syncs.
#[derive(Default)]
struct Folders(BTreeMap<PathBuf, (u64, u64)>);

impl Folders {
    fn add(&mut self, folder: &Path, used: &Use) {
        for above in folder.ancestors() {
            let (ns, sync_ns) = self.0.entry(above.to_owned()).or_default();
            *ns += used.ns;
            *sync_ns += used.sync_ns;
        }
    }

    fn of(&self, folder: &Path) -> (u64, u64) {
        self.0.get(folder).copied().unwrap_or_default()
    }

    /// Folders with so much time, none of which is in another. One of the folders in it stands for a
    /// folder where it has nearly all of its time, and so do several that matter themselves.
    fn matter(&self, least_ns: u64) -> Vec<PathBuf> {
        self.within(Path::new("/"), least_ns)
    }

    fn within(&self, folder: &Path, least_ns: u64) -> Vec<PathBuf> {
        let (all_ns, _) = self.of(folder);
        if all_ns < least_ns.max(1) {
            return Vec::new();
        }
        let is_child = |path: &&PathBuf| path.parent() == Some(folder);
        let children: Vec<&PathBuf> = self.0.keys().filter(is_child).collect();
        let matter: Vec<&PathBuf> =
            children.into_iter().filter(|child| self.of(child).0 >= least_ns).collect();
        let sum: u64 = matter.iter().map(|child| self.of(child).0).sum();
        let is_top = folder.parent().is_none();
        if is_top || sum as f64 >= STANDS_FOR * all_ns as f64 {
            return matter.into_iter().flat_map(|child| self.within(child, least_ns)).collect();
        }
        vec![folder.to_owned()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(times: &[(&str, u64)]) -> Folders {
        let mut folders = Folders::default();
        for (path, ns) in times {
            folders.add(Path::new(path), &Use { ns: *ns, ..Use::default() });
        }
        folders
    }

    #[test]
    fn the_deepest_folders_that_stand_for_the_time_are_found() {
        let found = |times: &[(&str, u64)]| {
            let shown = |path: PathBuf| path.display().to_string();
            folders(times).matter(20).into_iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(found(&[("/home/u/p/data", 900), ("/home/u/p", 50)]), ["/home/u/p/data"]);
        assert_eq!(found(&[("/home/u/p/data", 500), ("/home/u/p", 400)]), ["/home/u/p"]);
        assert_eq!(found(&[("/a/b", 500), ("/c/d", 400), ("/e", 5)]), ["/a/b", "/c/d"]);
        assert_eq!(found(&[("/tmp", 30), ("/usr/lib/x", 10)]), ["/tmp"]);
        assert_eq!(found(&[("/a/b", 10)]), [""; 0]);
    }
}
