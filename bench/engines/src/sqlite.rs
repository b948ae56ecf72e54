//! `SQLite` with a write-ahead log, synced at each commit.

use std::path::Path;

use anyhow::Result;
use rusqlite::{Connection, params};

use crate::engine::{Bytes, Engine, Take};
use crate::work::Item;

pub(crate) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let connection = Connection::open(folder.join("items.db"))?;
        connection.execute_batch(
            // All of its pages fit into the cache, as those of the others do. Checkpoints are
            // as SQLite has them by itself: after 1000 pages.
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA cache_size = -1048576;
             CREATE TABLE IF NOT EXISTS items (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID;",
        )?;
        Ok(Self { connection })
    }
}

impl Engine for Sqlite {
    fn commit(&mut self, items: &[Item]) -> Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut put =
                transaction.prepare_cached("INSERT OR REPLACE INTO items VALUES (?1, ?2)")?;
            for Item { key, value } in items {
                put.execute(params![&key[..], &value[..]])?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    fn each(&self, take: &mut Take<'_>) -> Result<()> {
        let mut all = self.connection.prepare("SELECT key, value FROM items ORDER BY key")?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            take(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?)?;
        }
        Ok(())
    }

    fn bytes(&self) -> Bytes {
        Bytes::default()
    }
}
