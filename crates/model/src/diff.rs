//! What changed between two runs: `iotoll.diff/1`. Times are in nanoseconds.

use serde::{Deserialize, Serialize};

use crate::analysis::Verdict;
use crate::description::Score;

/// The version of the format.
pub const SCHEMA: &str = "iotoll.diff/1";

/// What changed from one run to another, arm by arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "iotoll.diff/1"))]
pub struct Diff {
    /// `iotoll.diff/1`.
    pub schema: String,
    /// The run that the other is held against.
    pub before: Side,
    /// The run that is judged.
    pub after: Side,
    /// What is not the same about the machines, the places and how they were treated.
    pub facts: Vec<Fact>,
    /// The arms that both runs timed, in the order of the later run.
    pub arms: Vec<ArmChange>,
    /// Arms that cannot be held against each other, and why.
    pub missing: Vec<Missing>,
    /// The smallest relative difference that matters.
    #[serde(rename = "worth")]
    pub threshold: f64,
    /// How sure all intervals together are.
    pub confidence: f64,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// Its name, random and unique.
    pub id: String,
    /// When it began, RFC 3339.
    pub started: String,
}

/// A fact that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact {
    /// What it is about: `kernel`, `disk: file system`.
    pub what: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// An arm that both runs timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArmChange {
    /// Its name in the later run: `log/held@disk`.
    pub id: String,
    /// What it is judged by.
    pub score: Score,
    /// Its time in the earlier run.
    pub before_ns: f64,
    /// Its time in the later run.
    pub after_ns: f64,
    /// The later time over the earlier one.
    pub ratio: f64,
    /// What the ratio is at least.
    pub ratio_low: f64,
    /// What the ratio is at most.
    pub ratio_high: f64,
    /// `faster` or `slower` where it surely changed by more than worth, `same` where surely
    /// by less, `unclear` otherwise.
    pub verdict: Verdict,
    /// What such runs vary by, as a standard deviation of the logarithm of the time per operation.
    pub runs_vary_by: f64,
    /// How many other saved runs of the same that was learned from; `null` where these were
    /// too few, and it is assumed.
    pub learned_from: Option<usize>,
}

/// An arm that cannot be held against another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// Its name.
    pub id: String,
    /// Why not.
    pub why: String,
    /// Whether both runs were to time it, and one could not.
    pub failed: bool,
    /// Whether the earlier run measured it and the later one did not.
    #[serde(default)]
    pub lost: bool,
}

impl Diff {
    /// The arms that surely changed, by more than worth.
    pub fn changed(&self) -> impl Iterator<Item = &ArmChange> {
        let has_changed =
            |arm: &&ArmChange| matches!(arm.verdict, Verdict::Faster | Verdict::Slower);
        self.arms.iter().filter(has_changed)
    }

    /// The arms that are surely slower, by more than worth.
    pub fn slower(&self) -> impl Iterator<Item = &ArmChange> {
        self.arms.iter().filter(|arm| arm.verdict == Verdict::Slower)
    }

    /// The combinations that the earlier run measured and the later one did not.
    pub fn lost(&self) -> impl Iterator<Item = &Missing> {
        self.missing.iter().filter(|missing| missing.lost)
    }

    /// Whether something of the earlier run was compared, and nothing of it is lost.
    pub fn is_complete(&self) -> bool {
        !self.arms.is_empty() && self.lost().next().is_none()
    }
}
