//! What a slice yields: raw readings, from which everything else is computed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::probes::Probes;
use crate::result::Integrity;

/// Begins the names of figures that an application told of itself.
pub const EVIDENCE_PREFIX: &str = "evidence_";

/// One timed slice. Times in nanoseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The arm, as an index into the result's `arms`.
    pub arm: usize,
    /// The block, from 0.
    pub block: usize,
    /// The slice's place within its block, from 0.
    pub position: usize,
    /// Operations done.
    pub operations: u64,
    /// From before the first operation to after the last, and after whatever
    /// sync belongs to the timed work. Of several workers side by side the sum of
    /// what each saw, as all times here are.
    pub elapsed_ns: u64,
    /// The 99th percentile of the operations' latency.
    pub p99_ns: f64,
    /// What the slice is judged by, where that is not its mean time per operation:
    /// the median, or the time between operations at the highest rate held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_ns: Option<f64>,
    /// Operations that failed, where they may; `null` where one that fails ends the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Whether the 99th percentile is not the arm's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tail_untrusted: bool,
    /// Why the slice's figures are not the arm's own, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
    /// Forcing what the slice left unwritten to the device, under its own clock.
    pub deferred_sync_ns: u64,
    /// What the study asked the system to write or read.
    pub requested_bytes: u64,
    /// Calls that forced data to the device, within the timed span.
    pub sync_calls: u64,
    /// Time within those calls.
    pub sync_ns: u64,
    /// Calls that took a lock, within the timed span.
    #[serde(default)]
    pub lock_calls: u64,
    /// Time within those calls, from every eighth of them.
    #[serde(default)]
    pub lock_ns: u64,
    /// How often the clock ran backwards.
    #[serde(default)]
    pub clock_backward_steps: u64,
    /// The process's time on a processor, in its own code.
    pub user_ns: u64,
    /// The process's time on a processor, in the kernel.
    pub system_ns: u64,
    /// What the devices behind the place read while the slice ran, for anyone.
    /// `null` where there is no device or its counters cannot be read.
    pub device_read_bytes: Option<u64>,
    /// What they were given to write while the slice ran, by anyone.
    pub device_written_bytes: Option<u64>,
    /// What they were given to write while the deferred sync ran.
    pub device_deferred_bytes: Option<u64>,
    /// What became of the slice's records; `null` where they were not checked.
    pub integrity: Option<Integrity>,
    /// Figures of the study's own, each with its unit in its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// What else was read around the slice.
    #[serde(default)]
    pub probes: Probes,
}

impl Sample {
    /// The slice's mean time per operation.
    pub fn time_per_op_ns(&self) -> f64 {
        self.elapsed_ns as f64 / self.operations.max(1) as f64
    }

    /// The share of the operations that failed.
    pub fn failed_share(&self) -> f64 {
        self.failed.unwrap_or_default() as f64 / self.operations.max(1) as f64
    }

    /// The slice's toll.
    pub fn toll_ns(&self) -> f64 {
        self.judged_ns.unwrap_or_else(|| self.time_per_op_ns())
    }
}
