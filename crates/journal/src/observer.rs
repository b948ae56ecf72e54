//! What a commit's time and bytes go to, and recovery's time.
//!
//! The library has no clock. It says which part begins, and the time until the next call
//! belongs to that part, so that the parts always add up to the whole.

/// A part of a transaction, in the order in which they come, and of reading a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// Changing the tree, private copies of its pages included.
    Tree,
    /// Copying whole pages into one piece.
    Copy,
    /// Finding and collecting what differs from the pages' previous versions.
    Difference,
    /// Compressing the piece.
    Compression,
    /// Computing the checksum of what is stored.
    Checksum,
    /// Making a new segment ready, now and then: creating, filling and syncing it.
    Segment,
    /// Writing to the journal. With `O_DSYNC`, this is where a commit waits for the device.
    Write,
    /// Syncing the journal, where that is a call of its own.
    Sync,
    /// A checkpoint.
    Checkpoint,
    /// Reading the pages of the last checkpoint, and looking whether pages make a tree.
    Load,
    /// Replaying the journal.
    Recovery,
    /// Whatever the caller does until the next call.
    Outside,
}

/// Told when another part begins.
///
/// `()` is the observer that does nothing, and costs nothing.
///
/// ```
/// use iotoll_journal::{Observer, Part};
/// use std::time::{Duration, Instant};
///
/// struct Times {
///     part: Part,
///     since: Instant,
///     spent: Vec<(Part, Duration)>,
/// }
///
/// impl Observer for Times {
///     fn enter(&mut self, part: Part) {
///         let now = Instant::now();
///         self.spent.push((self.part, now - self.since));
///         (self.part, self.since) = (part, now);
///     }
/// }
/// ```
pub trait Observer {
    /// From now on, time is spent on `part`.
    fn enter(&mut self, part: Part);
}

impl Observer for () {
    #[inline]
    fn enter(&mut self, _: Part) {}
}

impl<O: Observer + ?Sized> Observer for &mut O {
    #[inline]
    fn enter(&mut self, part: Part) {
        (**self).enter(part);
    }
}

/// What a transaction came to, in bytes, from the pages to the device's blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The transaction's number.
    pub number: u64,
    /// How many pages it changed.
    pub pages: u64,
    /// These pages, whole.
    pub page_bytes: u64,
    /// What describes the changes: whole pages or differences, with the pages' numbers.
    pub change_bytes: u64,
    /// The same as it is stored: compressed where that made it shorter.
    pub stored_bytes: u64,
    /// What was written: with the header, padded to whole blocks.
    pub written_bytes: u64,
}
