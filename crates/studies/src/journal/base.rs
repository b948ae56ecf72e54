//! A store that was loaded before the clock starts, which every slice of every arm with the
//! same items begins with.
//!
//! It is made once, in memory. Each slice has a journal of its own on the device; of the last
//! checkpoint it reads this one (see `files.rs`), for writing it anew for each slice would
//! take longer than the slice.

use std::sync::Arc;

use journal::{Compression, Error, Files as _, Options, Space, Store, Writing};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::items::{Items, Kind};
use super::memory::Memory;
use crate::shared::Shared;

/// The file in which a store has its last checkpoint.
pub(super) const DATA: &str = "data";
/// Of the tree it is no matter how many items a transaction has, but each copies pages.
const TOGETHER: u64 = 100;

/// A store as files.
pub(super) struct Base {
    /// Its checkpoint.
    pub(super) data: Vec<u8>,
    /// The file of its journal, which has no transaction, and its name.
    pub(super) journal: (String, Vec<u8>),
    /// The number of the last transaction.
    pub(super) last: u64,
    pub(super) digest: Digest,
}

/// What items a store has, whatever their order: a sum of checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest {
    items: u64,
    sum: u64,
}

impl Digest {
    pub(super) fn add(&mut self, (key, value): (&[u8], &[u8])) {
        self.items += 1;
        self.sum = self.sum.wrapping_add(xxh3_64_with_seed(value, seed(key)));
    }

    /// With the items of all these transactions.
    #[must_use]
    pub(super) fn with(mut self, items: &Items) -> Self {
        let all = (0..items.transactions()).flat_map(|transaction| items.of(transaction));
        all.for_each(|item| self.add(item));
        self
    }
}

/// Of keys as long as ours, another one for each.
fn seed(key: &[u8]) -> u64 {
    key.try_into().map_or_else(|_| xxh3_64(key), u64::from_be_bytes)
}

impl Base {
    /// The store with the items of so many transactions, made where no arm has it.
    pub(super) fn of(kind: Kind, transactions: u64) -> Result<Arc<Self>, Error> {
        static MADE: Shared<(Kind, u64), Base> = Shared::new();
        MADE.get((kind, transactions), || Self::make(kind, transactions))
    }

    fn make(kind: Kind, transactions: u64) -> Result<Self, Error> {
        let options = Options {
            differences: true,
            compression: Compression::None,
            writing: Writing::Buffered,
            space: Space::Growing,
            ..Options::default()
        };
        let memory = Memory::default();
        let mut store = Store::open(memory.clone(), &options)?;
        let mut digest = Digest::default();
        for first in (0..transactions).step_by(TOGETHER as usize) {
            let items = kind.items(first..transactions.min(first + TOGETHER));
            let mut transaction = store.begin(())?;
            for (key, value) in (0..items.transactions()).flat_map(|number| items.of(number)) {
                transaction.put(key, value)?;
            }
            transaction.commit()?;
            digest = digest.with(&items);
        }
        store.checkpoint(())?;
        let last = store.last();
        drop(store);
        let io = |source| Error::Io { action: "reading", file: DATA.to_owned(), source };
        let is_journal = |name: &String| *name != DATA;
        let journal = memory.names().map_err(io)?.into_iter().find(is_journal);
        let journal = journal.ok_or(Error::NoJournal)?;
        let contents = memory.contents(&journal).map_err(io)?;
        let data = memory.contents(DATA).map_err(io)?;
        Ok(Self { data, journal: (journal, contents), last, digest })
    }
}
