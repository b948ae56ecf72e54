//! What every engine does.

use std::ops::Sub;

use anyhow::Result;

use crate::work::Item;

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
