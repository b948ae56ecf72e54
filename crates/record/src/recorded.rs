//! How a recording ended.

use std::io;

use trace::Summary;

/// What a recording amounted to.
#[derive(Debug)]
pub struct Recorded {
    /// What the trace ends with.
    pub summary: Summary,
    /// How many calls it has.
    pub calls: u64,
    /// How long the trace became, but for its end.
    pub written_bytes: u64,
    /// How many could not be kept.
    pub lost: u64,
    /// Why it ended before the program did: the trace could not be written.
    pub cut: Option<io::Error>,
    /// Processes that the command started and that were running when it ended.
    pub left_running: usize,
}
