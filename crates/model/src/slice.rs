//! One timed slice, as it is kept in the record of a run: raw readings, from
//! which everything else is computed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::integrity::Integrity;
use crate::probes::Surroundings;
use crate::spent::{DeviceTraffic, Spent};

/// One timed slice. Times in nanoseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slice {
    /// The arm, as an index into the plan's arms.
    pub arm: usize,
    /// What the slice was run for.
    pub phase: Phase,
    /// The slice's place within its block, from 0.
    pub position: usize,
    /// Operations done.
    pub operations: u64,
    /// What they took.
    pub spent: Spent,
    /// The operations' latencies.
    pub latencies: Latencies,
    /// What was left to do when the clock stopped.
    pub deferred: Deferred,
    /// What the slice was like around its own work.
    pub surroundings: Surroundings,
    /// What the slice came to.
    pub outcome: Outcome,
}

/// What a slice was run for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// To learn how many operations fill a slice.
    #[default]
    Calibration,
    /// To warm up; it counts for nothing else.
    Warmup,
    /// As part of the block of this number, from 0.
    Block(usize),
}

/// Latencies of single operations within 1%, as a sparse histogram.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// A value within each bucket that holds any, in ticks of the run's clock,
    /// smallest first, and how many operations took about as long.
    pub buckets: Vec<(u64, u64)>,
    /// The longest, exactly, in ticks.
    pub max: u64,
}

/// What was forced to the device after the clock stopped, under a clock of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deferred {
    /// How long that took.
    pub sync_ns: u64,
    /// What the devices behind the place did meanwhile, for anyone.
    pub device: Option<DeviceTraffic>,
}

/// What a slice came to, as its study tells once its data is checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// What became of the slice's records; `null` where they were not checked.
    pub integrity: Option<Integrity>,
    /// Figures of the study's own, by the names that its description has them under.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// Figures that an application told of itself, by its own names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<String, f64>,
    /// What the slice is judged by, where that is not its mean time per operation:
    /// the median, or the time between operations at the highest rate held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_ns: Option<f64>,
    /// Operations that failed, where they may; `null` where one that fails ends the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Whether the 99th percentile is not the arm's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tail_untrusted: bool,
    /// Why the slice's figures are not the arm's own, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
}

impl Slice {
    /// The block that it is part of; nothing where it counts for none.
    pub fn block(&self) -> Option<usize> {
        match self.phase {
            Phase::Block(number) => Some(number),
            Phase::Calibration | Phase::Warmup => None,
        }
    }

    /// The slice's mean time per operation.
    pub fn time_per_op_ns(&self) -> f64 {
        self.spent.elapsed_ns as f64 / self.operations.max(1) as f64
    }

    /// What the slice is judged by: its toll.
    pub fn toll_ns(&self) -> f64 {
        self.outcome.score_ns.unwrap_or_else(|| self.time_per_op_ns())
    }

    /// The share of the operations that failed.
    pub fn failed_share(&self) -> f64 {
        self.outcome.failed.unwrap_or_default() as f64 / self.operations.max(1) as f64
    }
}
