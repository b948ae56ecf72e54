//! A simulated disk: what files hold as a running system reads them, and what of it may be
//! there after a crash.

use std::collections::BTreeMap;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// What a device writes whole or not at all.
pub(crate) const SECTOR_BYTES: usize = 512;

type Sector = [u8; SECTOR_BYTES];

/// What of the operations that were not synced a crash leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Survival {
    /// Everything: the process was killed.
    All,
    /// Nothing.
    Nothing,
    /// What was done before an operation, and parts of that one.
    Until(u64),
    /// Some operations whole, whatever their order: a bit of the mask for each.
    Some(u64),
    /// Each sector by chance.
    Torn(f64),
}

impl Survival {
    /// Any of them, for a crash during operation `now`.
    pub(crate) fn random(rng: &mut ChaCha8Rng, now: u64) -> Self {
        match rng.random_range(0..10) {
            0 => Self::All,
            1 => Self::Nothing,
            2..4 => Self::Until(now.saturating_sub(rng.random_range(0..6))),
            4..6 => Self::Some(rng.random()),
            _ => Self::Torn(rng.random_range(0.05..0.95)),
        }
    }

    fn keeps(self, operation: u64, rng: &mut ChaCha8Rng) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Until(last) => operation < last || (operation == last && rng.random()),
            Self::Some(mask) => mask >> (operation % 64) & 1 == 1,
            Self::Torn(chance) => rng.random_bool(chance),
        }
    }

    /// What is there of several versions, each with the operation that made it. The first
    /// one is on the disk.
    fn choose<'v, T>(self, versions: &'v [(u64, T)], rng: &mut ChaCha8Rng) -> Option<&'v T> {
        let (on_disk, later) = versions.split_first()?;
        let kept = later.iter().rfind(|(operation, _)| self.keeps(*operation, rng));
        Some(&kept.unwrap_or(on_disk).1)
    }
}

/// A file.
#[derive(Clone, Default)]
pub(crate) struct Inode {
    /// What is read.
    cached: Vec<u8>,
    /// Sectors that were written since the last sync, each with all of its versions.
    dirty: BTreeMap<usize, Vec<(u64, Sector)>>,
    /// What is on the disk where a sync failed, and what is cached passes for written.
    lost: BTreeMap<usize, Sector>,
    /// Lengths since the last sync; none where it is what is cached.
    lengths: Vec<(u64, usize)>,
}

impl Inode {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.cached
    }

    fn sector(&self, index: usize) -> Sector {
        let mut sector = [0; SECTOR_BYTES];
        let rest = self.cached.get(index * SECTOR_BYTES..).unwrap_or_default();
        let len = rest.len().min(SECTOR_BYTES);
        sector[..len].copy_from_slice(&rest[..len]);
        sector
    }

    pub(crate) fn write(&mut self, operation: u64, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        let sectors = offset / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES);
        for index in sectors.clone() {
            if !self.dirty.contains_key(&index) {
                let on_disk = self.lost.remove(&index).unwrap_or_else(|| self.sector(index));
                self.dirty.insert(index, vec![(0, on_disk)]);
            }
        }
        self.grow(operation, end);
        self.cached[offset..end].copy_from_slice(bytes);
        for index in sectors {
            let now = self.sector(index);
            self.dirty.entry(index).or_default().push((operation, now));
        }
    }

    pub(crate) fn grow(&mut self, operation: u64, len: usize) {
        if len > self.cached.len() {
            if self.lengths.is_empty() {
                self.lengths.push((0, self.cached.len()));
            }
            self.lengths.push((operation, len));
            self.cached.resize(len, 0);
        }
    }

    pub(crate) fn sync(&mut self) {
        self.dirty.clear();
        self.lengths.clear();
    }

    /// A part of what is dirty is written, and all of it passes for written from now on: that
    /// is what Linux does.
    pub(crate) fn fail_sync(&mut self, rng: &mut ChaCha8Rng) {
        for (index, versions) in std::mem::take(&mut self.dirty) {
            let written = rng.random_range(0..versions.len());
            if written + 1 < versions.len() {
                self.lost.insert(index, versions[written].1);
            }
        }
    }

    /// The file as it is after a crash. With `garbage`, a file that grew without its data
    /// holds anything there.
    fn after_crash(&self, survival: Survival, garbage: bool, rng: &mut ChaCha8Rng) -> Self {
        let len_before = self.lengths.first().map_or(self.cached.len(), |(_, len)| *len);
        let len = survival.choose(&self.lengths, rng).copied().unwrap_or(self.cached.len());
        let mut cached = self.cached.clone();
        let mut put = |index: usize, sector: &Sector| {
            let from = (index * SECTOR_BYTES).min(cached.len());
            let to = (from + SECTOR_BYTES).min(cached.len());
            cached[from..to].copy_from_slice(&sector[..to - from]);
        };
        self.lost.iter().for_each(|(index, sector)| put(*index, sector));
        for (index, versions) in &self.dirty {
            let Some(kept) = survival.choose(versions, rng) else { continue };
            let is_new = index * SECTOR_BYTES >= len_before;
            if garbage && is_new && *kept == [0; SECTOR_BYTES] {
                let mut sector = [0; SECTOR_BYTES];
                rng.fill(&mut sector[..]);
                put(*index, &sector);
            } else {
                put(*index, kept);
            }
        }
        cached.truncate(len);
        Self { cached, ..Self::default() }
    }
}

#[derive(Clone)]
enum NameChange {
    Link(String, usize),
    Unlink(String),
    /// The file is known by its inode: an older one of that name does not take its place.
    Rename(String, String, usize),
}

/// The files of one directory.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    /// What is on the disk.
    synced_names: BTreeMap<String, usize>,
    /// What was done to names since they were synced.
    name_changes: Vec<(u64, NameChange)>,
}

impl Disk {
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.names.keys()
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    pub(crate) fn inode(&self, inode: usize) -> &Inode {
        &self.inodes[inode]
    }

    pub(crate) fn inode_mut(&mut self, inode: usize) -> &mut Inode {
        &mut self.inodes[inode]
    }

    /// The length of all files.
    pub(crate) fn bytes(&self) -> usize {
        self.names.values().map(|inode| self.inodes[*inode].cached.len()).sum()
    }

    pub(crate) fn create(&mut self, operation: u64, name: &str) -> usize {
        let inode = self.inodes.len();
        self.inodes.push(Inode::default());
        self.change_names(operation, NameChange::Link(name.to_owned(), inode));
        inode
    }

    pub(crate) fn remove(&mut self, operation: u64, name: &str) {
        self.change_names(operation, NameChange::Unlink(name.to_owned()));
    }

    pub(crate) fn rename(&mut self, operation: u64, from: &str, to: &str) {
        if let Some(inode) = self.find(from) {
            let change = NameChange::Rename(from.to_owned(), to.to_owned(), inode);
            self.change_names(operation, change);
        }
    }

    fn change_names(&mut self, operation: u64, change: NameChange) {
        apply(&mut self.names, &change);
        self.name_changes.push((operation, change));
    }

    pub(crate) fn sync_names(&mut self) {
        self.synced_names.clone_from(&self.names);
        self.name_changes.clear();
    }

    /// What a crash leaves.
    pub(crate) fn after_crash(&self, survival: Survival, rng: &mut ChaCha8Rng) -> Self {
        let garbage = rng.random_bool(0.25);
        let mut found = self.synced_names.clone();
        for (operation, change) in &self.name_changes {
            if survival.keeps(*operation, rng) {
                apply(&mut found, change);
            }
        }
        let mut image = Self::default();
        for (name, inode) in found {
            image.names.insert(name, image.inodes.len());
            image.inodes.push(self.inodes[inode].after_crash(survival, garbage, rng));
        }
        image.synced_names.clone_from(&image.names);
        image
    }

    /// Makes a file hold these bytes, whatever it held before.
    pub(crate) fn put(&mut self, name: &str, bytes: Vec<u8>) {
        self.names.insert(name.to_owned(), self.inodes.len());
        self.inodes.push(Inode { cached: bytes, ..Inode::default() });
        self.sync_names();
    }

    /// Flips a bit of a file; which file and which byte, none where there is nothing to flip.
    pub(crate) fn flip(&mut self, rng: &mut ChaCha8Rng) -> Option<(String, usize)> {
        let index = rng.random_range(0..self.names.len().max(1));
        let (name, inode) = self.names.iter().nth(index)?;
        let bytes = &mut self.inodes[*inode].cached;
        // Half of the time where most files have something.
        let end = if rng.random() { bytes.len().min(16 << 10) } else { bytes.len() };
        let at = rng.random_range(0..end.max(1));
        *bytes.get_mut(at)? ^= 1 << rng.random_range(0..8);
        Some((name.clone(), at))
    }
}

fn apply(names: &mut BTreeMap<String, usize>, change: &NameChange) {
    match change {
        NameChange::Link(name, inode) => {
            names.insert(name.clone(), *inode);
        }
        NameChange::Unlink(name) => {
            names.remove(name);
        }
        NameChange::Rename(from, to, inode) => {
            names.remove(from);
            names.insert(to.clone(), *inode);
        }
    }
}
