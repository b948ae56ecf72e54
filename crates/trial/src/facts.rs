//! What is in a folder, as far as a change shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{At as _, Error};

/// What a file or folder is. Of a folder, neither its size nor its times: what is in it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    inode: u64,
    mode: u32,
    owner: (u32, u32),
    bytes: u64,
    /// How many names it has, if it is no folder.
    names: u64,
    times: [(i64, i64); 2],
}

/// All below a folder, by paths relative to it; the folder itself is the empty path.
pub(crate) type Snapshot = BTreeMap<PathBuf, Facts>;

impl Facts {
    fn of(facts: &Metadata) -> Self {
        let is_folder = facts.is_dir();
        let times = [(facts.mtime(), facts.mtime_nsec()), (facts.ctime(), facts.ctime_nsec())];
        Self {
            inode: facts.ino(),
            mode: facts.mode(),
            owner: (facts.uid(), facts.gid()),
            bytes: if is_folder { 0 } else { facts.len() },
            names: if is_folder { 0 } else { facts.nlink() },
            times: if is_folder { Default::default() } else { times },
        }
    }
}

/// What is below a folder now, without what is at some of the paths.
pub(crate) fn snapshot(root: &Path, left_out: &BTreeSet<PathBuf>) -> Result<Snapshot, Error> {
    let mut found = Snapshot::new();
    let facts = fs::symlink_metadata(root).at("looking at", root)?;
    found.insert(PathBuf::new(), Facts::of(&facts));
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let entries = match fs::read_dir(&path) {
            // The command may have locked it.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => continue,
            entries => entries.at("listing", &path)?,
        };
        for entry in entries {
            let entry = entry.at("listing", &path)?;
            let within = folder.join(entry.file_name());
            if left_out.contains(&within) {
                continue;
            }
            let facts = entry.metadata().at("looking at", &entry.path())?;
            found.insert(within.clone(), Facts::of(&facts));
            if facts.is_dir() {
                folders.push(within);
            }
        }
    }
    Ok(found)
}

/// The paths at which two snapshots differ.
pub(crate) fn differences(before: &Snapshot, after: &Snapshot) -> BTreeSet<PathBuf> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let new = after.iter().filter(|(path, facts)| before.get(*path) != Some(facts));
    gone.chain(new.map(|(path, _)| path)).cloned().collect()
}

/// These paths, and all names of a file that has one of its names at or below them.
pub(crate) fn with_all_names(paths: BTreeSet<PathBuf>, before: &Snapshot) -> BTreeSet<PathBuf> {
    let named_twice = || before.iter().filter(|(_, facts)| facts.names > 1);
    let is_among = |path: &PathBuf| path.ancestors().any(|above| paths.contains(above));
    let inodes: BTreeSet<u64> =
        named_twice().filter(|(path, _)| is_among(path)).map(|(_, facts)| facts.inode).collect();
    let names = named_twice().filter(|(_, facts)| inodes.contains(&facts.inode));
    let names: Vec<PathBuf> = names.map(|(path, _)| path.clone()).collect();
    paths.into_iter().chain(names).collect()
}
