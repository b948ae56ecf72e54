//! LMDB, which writes pages of the tree itself and has no journal.

use std::path::Path;

use anyhow::Result;
use heed::types::Bytes as Slice;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, WithTls};

use crate::engine::{Bytes, Engine, Take};
use crate::work::Item;

/// What the file may grow to; it takes addresses, not memory.
const MAP_BYTES: usize = 16 << 30;

/// How a commit reaches the device.
#[derive(Clone, Copy)]
pub(crate) enum Syncs {
    /// The pages, then the page that says where the tree begins: what was committed stays.
    Both,
    /// The pages alone: a power failure may undo the last transaction.
    One,
}

pub(crate) struct Lmdb {
    env: Env<WithTls>,
    items: Database<Slice, Slice>,
}

impl Lmdb {
    pub(crate) fn open(folder: &Path, syncs: Syncs) -> Result<Self> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES);
        if let Syncs::One = syncs {
            // SAFETY: with this flag a file stays whole, whatever happens.
            unsafe { options.flags(EnvFlags::NO_META_SYNC) };
        }
        // SAFETY: nobody else opens or changes files of this folder.
        let env = unsafe { options.open(folder)? };
        let mut transaction = env.write_txn()?;
        let items = env.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Self { env, items })
    }
}

impl Engine for Lmdb {
    fn commit(&mut self, items: &[Item]) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        for Item { key, value } in items {
            self.items.put(&mut transaction, key, value)?;
        }
        Ok(transaction.commit()?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    fn each(&self, take: &mut Take<'_>) -> Result<()> {
        let transaction = self.env.read_txn()?;
        for item in self.items.iter(&transaction)? {
            let (key, value) = item?;
            take(key, value)?;
        }
        Ok(())
    }

    fn bytes(&self) -> Bytes {
        Bytes::default()
    }
}
