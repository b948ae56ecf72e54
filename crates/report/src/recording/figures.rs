//! What is compared and exported of file calls.

use serde::Serialize;
use trace::{Cost, FileCost};

/// A column of a spreadsheet: its head, and what it has.
type Column = (&'static str, fn(&Figures) -> String);

/// All of them.
pub(super) const COLUMNS: [Column; 9] = [
    ("calls", |of| of.calls.to_string()),
    ("failed", |of| of.failed.to_string()),
    ("read_bytes", |of| of.read_bytes.to_string()),
    ("written_bytes", |of| of.written_bytes.to_string()),
    ("time_low_ns", |of| of.time_low_ns.to_string()),
    ("time_high_ns", |of| of.time_high_ns.to_string()),
    ("share_low", |of| of.share_low.to_string()),
    ("share_high", |of| of.share_high.to_string()),
    ("longest_ns", |of| of.longest_ns.map_or_else(String::new, |longest| longest.to_string())),
];

/// What some file calls came to. Times are of the run's own clock: threads in parallel count
/// once, but for single files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// How many.
    pub calls: u64,
    /// How many of these failed.
    pub failed: u64,
    /// How many bytes they read.
    pub read_bytes: u64,
    /// How many bytes they wrote.
    pub written_bytes: u64,
    /// Their time is at least this.
    pub time_low_ns: u64,
    /// Their time is at most this.
    pub time_high_ns: u64,
    /// Their part of the time in which the program was busy is at least this.
    pub share_low: f64,
    /// And at most this.
    pub share_high: f64,
    /// The longest; none for single files.
    pub longest_ns: Option<u64>,
}

impl Figures {
    /// Those of a cost.
    pub fn of(cost: &Cost) -> Self {
        Self {
            calls: cost.calls,
            failed: cost.failed,
            read_bytes: cost.read_bytes,
            written_bytes: cost.written_bytes,
            time_low_ns: cost.once_ns.low,
            time_high_ns: cost.once_ns.high,
            share_low: cost.part.low,
            share_high: cost.part.high,
            longest_ns: Some(cost.longest_ns),
        }
    }

    /// In the middle of what it can be.
    pub(super) fn time_ns(&self) -> f64 {
        f64::midpoint(self.time_low_ns as f64, self.time_high_ns as f64)
    }

    /// How many bytes they read and wrote.
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.written_bytes)
    }

    pub(super) fn cells(&self) -> [String; COLUMNS.len()] {
        COLUMNS.map(|(_, cell)| cell(self))
    }
}

impl From<&FileCost> for Figures {
    fn from(file: &FileCost) -> Self {
        Self {
            calls: file.calls,
            failed: 0,
            read_bytes: file.read_bytes,
            written_bytes: file.written_bytes,
            time_low_ns: file.summed_ns,
            time_high_ns: file.summed_ns,
            share_low: file.share,
            share_high: file.share,
            longest_ns: None,
        }
    }
}
