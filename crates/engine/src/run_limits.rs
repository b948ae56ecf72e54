//! How a run treats the machine and who else uses it.

use std::time::Duration;

/// A run writes no more than this, unless it is told otherwise: ten times what a usual
/// one comes to, and a share of 1 in 35,000 of what a disk of 1 TB is made to endure
/// (600 TB). A budget of hours on a fast disk would else take months of its life.
pub const WRITE_LIMIT_BYTES: u64 = 16 << 30;

/// A gentle slice lasts this long at the most …
pub(crate) const GENTLE_SLICE_MAX: Duration = Duration::from_millis(4);
/// … and writes no more than this, where it may have so few operations: a neighbour's
/// sync that comes upon it waits for what it wrote.
pub(crate) const GENTLE_SLICE_BYTES: u64 = 256 << 10;

/// How a run treats the machine and who else uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// What the run may write to storage that wears, all places together.
    pub write_limit_bytes: u64,
    /// Whether neighbours come first: smaller slices, and pauses between them.
    pub gentle: bool,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { write_limit_bytes: WRITE_LIMIT_BYTES, gentle: false }
    }
}
