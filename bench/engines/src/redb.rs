//! redb, which writes pages of the tree itself and has no journal.

use std::path::Path;

use anyhow::Result;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};

use crate::engine::{Bytes, Engine, Take};
use crate::work::Item;

const ITEMS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("items");

pub(crate) struct Redb {
    database: Database,
}

impl Redb {
    /// With its defaults: each commit is durable when it returns, by one sync.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        Ok(Self { database: Database::create(folder.join("items.redb"))? })
    }
}

impl Engine for Redb {
    fn commit(&mut self, items: &[Item]) -> Result<()> {
        let transaction = self.database.begin_write()?;
        {
            let mut table = transaction.open_table(ITEMS)?;
            for Item { key, value } in items {
                table.insert(&key[..], &value[..])?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    fn each(&self, take: &mut Take<'_>) -> Result<()> {
        let table = self.database.begin_read()?.open_table(ITEMS)?;
        for item in table.iter()? {
            let (key, value) = item?;
            take(key.value(), value.value())?;
        }
        Ok(())
    }

    fn bytes(&self) -> Bytes {
        Bytes::default()
    }
}
