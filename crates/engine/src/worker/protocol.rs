//! What workers and their crew say to one another, a line of JSON at a time.

use std::collections::BTreeMap;

use host::clock::ClockTold;
use model::spent::Calls;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a worker is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToWorker {
    /// To make ready for some work.
    Work(Ticket),
    /// To start when `CLOCK_MONOTONIC` shows so many nanoseconds.
    Start(u64),
}

/// One worker's part of a slice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ticket {
    /// The study, which knows what to do with the rest.
    pub study: String,
    /// The clock, for workers that read ticks.
    pub clock: ClockTold,
    /// What to do, as the study and its workers have agreed.
    pub work: Value,
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FromWorker {
    /// Everything is made ready; waiting for the start.
    Ready,
    /// The work is done.
    Done(Box<Report>),
    /// The work cannot be done, and why.
    Failed(String),
}

/// What a worker did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Operations that it was told had been done.
    pub acknowledged: u64,
    /// When it began, by `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    /// When it ended, by `CLOCK_MONOTONIC`.
    pub ended_ns: u64,
    /// The time that counts for the toll.
    pub elapsed_ns: u64,
    /// How long one unit of the latencies is.
    pub unit_ns: f64,
    /// Latencies within 1%, and how often each came.
    pub latencies: Vec<(u64, u64)>,
    /// The longest latency, exactly.
    pub latency_max: u64,
    /// Calls that forced data to the device.
    #[serde(default)]
    pub sync_calls: u64,
    /// Time within those calls.
    #[serde(default)]
    pub sync_ns: u64,
    /// Calls that took a lock.
    #[serde(default)]
    pub lock_calls: u64,
    /// Time within those calls.
    #[serde(default)]
    pub lock_ns: u64,
    /// Time ready to run and waiting for a processor, where it knows.
    #[serde(default)]
    pub run_queue_ns: Option<u64>,
    /// Reads and writes, where it knows; none of a thread's own, whose process
    /// counts them.
    #[serde(default)]
    pub calls: Option<Calls>,
    /// Processor time of its process in its own code; of a thread it is not used.
    #[serde(default)]
    pub user_ns: u64,
    /// Processor time in the kernel, likewise.
    #[serde(default)]
    pub system_ns: u64,
    /// What it asked the system to write or read.
    pub requested_bytes: u64,
    /// What else the study wants to know.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
}

impl Report {
    /// The latencies in units of so many nanoseconds, the longest exactly.
    pub fn latencies_in(&self, unit_ns: f64) -> impl Iterator<Item = (u64, u64)> {
        let scale = self.unit_ns / unit_ns;
        let scaled = move |value: u64| (value as f64 * scale) as u64;
        let longest = self.latencies.iter().map(|(value, _)| *value).max();
        let mut put_right = longest;
        let max = scaled(self.latency_max);
        self.latencies.iter().flat_map(move |&(value, times)| {
            // One of the longest bucket's is known exactly.
            let exact = u64::from(put_right.take_if(|longest| *longest == value).is_some());
            [(max, exact), (scaled(value), times - exact.min(times))]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_keep_their_number_and_the_longest_its_value() {
        let report = Report {
            unit_ns: 1.0,
            latencies: vec![(10, 3), (100, 2)],
            latency_max: 101,
            ..Report::default()
        };
        let mut seen: Vec<_> = report.latencies_in(0.5).filter(|(_, times)| *times > 0).collect();
        seen.sort_unstable();
        assert_eq!(seen, [(20, 3), (200, 1), (202, 1)]);
    }
}
