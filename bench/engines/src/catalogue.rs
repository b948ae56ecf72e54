//! The engines that there are, by the names that the bench gives them.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Result, bail};

use crate::engine::Engine;
use crate::{lmdb, ours, redb, sqlite};

/// An engine, and which of its settings.
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
