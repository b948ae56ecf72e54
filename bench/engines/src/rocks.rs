//! `RocksDB`, whose log is synced at each write.

use std::path::Path;

use anyhow::Result;
use rocksdb::{
    DB, DBCompressionType, IteratorMode, Options, WaitForCompactOptions, WriteBatch, WriteOptions,
};

use crate::engine::{Bytes, Engine, Take};
use crate::work::Item;

/// How the log is written.
#[derive(Clone, Copy)]
pub(crate) enum Wal {
    /// As it is.
    Plain,
    /// Compressed by zstd, the one way that there is.
    Zstd,
}

pub(crate) struct Rocks {
    db: DB,
    synced: WriteOptions,
}

impl Rocks {
    pub(crate) fn open(folder: &Path, wal: Wal) -> Result<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        if let Wal::Zstd = wal {
            options.set_wal_compression_type(DBCompressionType::Zstd);
        }
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        Ok(Self { db: DB::open(&options, folder)?, synced })
    }
}

impl Engine for Rocks {
    fn commit(&mut self, items: &[Item]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for Item { key, value } in items {
            batch.put(key, value);
        }
        Ok(self.db.write_opt(batch, &self.synced)?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.db.wait_for_compact(&WaitForCompactOptions::default())?)
    }

    fn each(&self, take: &mut Take<'_>) -> Result<()> {
        for item in self.db.iterator(IteratorMode::Start) {
            let (key, value) = item?;
            take(&key, &value)?;
        }
        Ok(())
    }

    fn bytes(&self) -> Bytes {
        Bytes::default()
    }
}
