//! What disturbed a run from outside, as far as it could be seen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bounded;

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// What was seen to disturb, each only on evidence.
    #[serde(deserialize_with = "bounded::list")]
    pub sources: Vec<NoiseSource>,
    /// What could not be looked at, each with what that hides.
    #[serde(deserialize_with = "bounded::list")]
    pub unread: Vec<String>,
}

/// One thing that makes measurements differ from one another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoiseSource {
    /// A stable name.
    pub code: NoiseCode,
    /// The figures, each with its unit in its name.
    #[serde(deserialize_with = "bounded::map")]
    pub evidence: BTreeMap<String, f64>,
    /// The same in a sentence.
    pub text: String,
    /// What to do about it, in a sentence.
    pub remedy: String,
    /// The largest share of its time that an arm lost to it at the most; `null` where the slices'
    /// readings do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<f64>,
    /// The other arms of the comparisons that it may have moved by more than the threshold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "bounded::list")]
    pub touched: Vec<String>,
}

/// What disturbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoiseCode {
    /// The host gave this virtual machine's processor time to others.
    Steal,
    /// Other programs used the processors.
    OtherLoad,
    /// A control group's processor quota was used up.
    CpuQuota,
    /// Memory was swapped.
    Swap,
    /// Others wrote to the disks.
    BackgroundWrites,
    /// Others used the device of one place, and not those of the others.
    PlaceNeighbour,
    /// A control group's limit of I/O was reached.
    IoLimit,
    /// A control group limits memory.
    MemoryLimit,
    /// The processors' frequency follows the load.
    Governor,
    /// This run lies far from the saved ones of the same.
    UnlikeSaved,
    /// Processors ran at different frequencies.
    Frequency,
    /// There are few processors.
    FewProcessors,
    /// This is a virtual machine.
    VirtualMachine,
}
