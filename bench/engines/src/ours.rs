//! The page journal's own store.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use iotoll_journal::{
    Compression, Options, OsFiles, PAGE_BYTES, Page, Space, Store, Writing, recover,
};
use serde_json::{Value, json};

use crate::engine::{Bytes, Engine, Take};
use crate::work::Item;

/// With checkpoints, there is one whenever the journal has grown to this: its segments are as
/// long, and so is what `RocksDB` gathers in memory.
pub(crate) const CHECKPOINT_BYTES: u64 = 64 << 20;

/// What is written for a transaction.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// What writes least: differences, compressed by zstd.
    Best,
    /// What is fastest on most disks: differences, compressed by LZ4, past the page cache to
    /// space that was written before.
    Fast,
    /// Whole pages, written in that way.
    PagesDirect,
    /// Whole pages, compressed by LZ4.
    Lz4,
    /// Whole pages as they are.
    Pages,
}

impl Way {
    fn options(self) -> Options {
        let raw = Options {
            differences: false,
            compression: Compression::None,
            writing: Writing::Buffered,
            space: Space::Preallocated,
            ..Options::default()
        };
        let direct = Options { writing: Writing::Direct, space: Space::ZeroFilled, ..raw };
        match self {
            Self::Pages => raw,
            Self::PagesDirect => direct,
            Self::Fast => Options { differences: true, compression: Compression::Lz4, ..direct },
            Self::Lz4 => Options { compression: Compression::Lz4, ..raw },
            Self::Best => {
                Options { differences: true, compression: Compression::Zstd { level: 1 }, ..raw }
            }
        }
    }
}

pub(crate) struct Ours {
    store: Store<OsFiles>,
    checkpoint_bytes: u64,
    bytes: Bytes,
}

impl Ours {
    pub(crate) fn open(folder: &Path, way: Way, checkpoint_bytes: u64) -> Result<Self> {
        let store = Store::open(OsFiles::open(folder)?, &way.options())?;
        Ok(Self { store, checkpoint_bytes, bytes: Bytes::default() })
    }
}

impl Engine for Ours {
    fn commit(&mut self, items: &[Item]) -> Result<()> {
        let mut transaction = self.store.begin(())?;
        for Item { key, value } in items {
            transaction.put(key, value)?;
        }
        let journaled = transaction.commit()?.journaled;
        self.bytes.pages += journaled.page_bytes;
        self.bytes.journal += journaled.written_bytes;
        if self.store.journal_bytes() >= self.checkpoint_bytes {
            self.store.checkpoint(())?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    fn each(&self, take: &mut Take<'_>) -> Result<()> {
        self.store.iter().try_for_each(|(key, value)| take(key, value))
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// Replays the whole journal of a store that made no checkpoint, into pages in memory.
pub(crate) fn recovery(folder: &Path) -> Result<Value> {
    let files = OsFiles::open(folder)?;
    let mut pages: Vec<Box<Page>> = Vec::new();
    let began = Instant::now();
    let recovered = recover(&files, 0, |version| {
        let page = version.page as usize;
        if page >= pages.len() {
            pages.resize_with(page + 1, || Box::new([0; PAGE_BYTES]));
        }
        if version.apply(&mut pages[page]) { Ok(()) } else { Err("it is no version of a page") }
    })?;
    Ok(json!({
        "elapsed_ns": began.elapsed().as_nanos() as u64,
        "page_bytes": recovered.page_bytes,
        "stored_bytes": recovered.stored_bytes,
    }))
}
