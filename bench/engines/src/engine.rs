//! What every engine does, and which there are.

use std::ops::Sub;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, bail};

use crate::work::Item;
use crate::{lmdb, ours, redb, sqlite};

/// An open store of keys and values.
pub(crate) trait Engine {
    /// Puts all items in one transaction, and returns when they are on the device.
    fn commit(&mut self, items: &[Item]) -> Result<()>;

    /// Returns when nothing goes on in the background any more.
    fn settle(&mut self) -> Result<()>;

    /// Hands over all items in the order of keys.
    fn each(&self, take: &mut Take<'_>) -> Result<()>;

    /// What its transactions came to until now, where the engine tells.
    fn bytes(&self) -> Bytes;
}

/// Takes a key with its value.
pub(crate) type Take<'a> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'a;

/// What transactions come to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bytes {
    /// Changed pages, whole.
    pub(crate) pages: u64,
    /// What was written to the journal for them.
    pub(crate) journal: u64,
}

impl Sub for Bytes {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { pages: self.pages - before.pages, journal: self.journal - before.journal }
    }
}

/// The engines, by the names that the chore calls them.
#[derive(Clone, Copy)]
pub(crate) enum Name {
    /// The page journal's store, as it is used: with checkpoints.
    Ours(ours::Way),
    /// The same without checkpoints, so that the journal keeps everything.
    Journal(ours::Way),
    Sqlite,
    Lmdb(lmdb::Syncs),
    Redb,
    #[cfg(feature = "rocksdb")]
    Rocksdb(crate::rocks::Wal),
}

impl FromStr for Name {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "ours-best" => Self::Ours(ours::Way::Best),
            "ours-pages" => Self::Ours(ours::Way::Pages),
            "journal-best" => Self::Journal(ours::Way::Best),
            "journal-fast" => Self::Journal(ours::Way::Fast),
            "journal-pages-direct" => Self::Journal(ours::Way::PagesDirect),
            "journal-lz4" => Self::Journal(ours::Way::Lz4),
            "journal-pages" => Self::Journal(ours::Way::Pages),
            "sqlite" => Self::Sqlite,
            "lmdb" => Self::Lmdb(lmdb::Syncs::Both),
            "lmdb-one-sync" => Self::Lmdb(lmdb::Syncs::One),
            "redb" => Self::Redb,
            #[cfg(feature = "rocksdb")]
            "rocksdb" => Self::Rocksdb(crate::rocks::Wal::Plain),
            #[cfg(feature = "rocksdb")]
            "rocksdb-zstd" => Self::Rocksdb(crate::rocks::Wal::Zstd),
            _ => bail!("there is no engine `{name}` in this build"),
        })
    }
}

/// Opens an engine in a folder of its own.
pub(crate) fn open(name: Name, folder: &Path) -> Result<Box<dyn Engine>> {
    Ok(match name {
        Name::Ours(way) => Box::new(ours::Ours::open(folder, way, ours::CHECKPOINT_BYTES)?),
        Name::Journal(way) => Box::new(ours::Ours::open(folder, way, u64::MAX)?),
        Name::Sqlite => Box::new(sqlite::Sqlite::open(folder)?),
        Name::Lmdb(syncs) => Box::new(lmdb::Lmdb::open(folder, syncs)?),
        Name::Redb => Box::new(redb::Redb::open(folder)?),
        #[cfg(feature = "rocksdb")]
        Name::Rocksdb(wal) => Box::new(crate::rocks::Rocks::open(folder, wal)?),
    })
}
