//! What arms took over many runs, and when that changed: `iotoll.trend/1`.

use serde::{Deserialize, Serialize};

use crate::diff::Fact;

/// The version of the format.
pub const SCHEMA: &str = "iotoll.trend/1";

/// What arms took over many runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// `iotoll.trend/1`.
    pub schema: String,
    /// Each arm that enough runs have, in the order in which they first ran.
    pub arms: Vec<ArmTrend>,
    /// Arms that fewer runs have.
    pub too_few: u64,
    /// How many runs an arm needs.
    pub runs_min: u64,
}

/// What one arm took, from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmTrend {
    /// The arm's id; its parameters too, where arms of one id differ in them.
    pub id: String,
    /// Its runs, the latest last.
    pub runs: Vec<TrendRun>,
    /// When its level changed, the latest last.
    pub changes: Vec<LevelChange>,
}

impl ArmTrend {
    /// The shortest and the longest of its times.
    pub fn ends_ns(&self) -> [f64; 2] {
        let times = self.runs.iter().map(|run| run.typical_ns);
        [times.clone().fold(f64::INFINITY, f64::min), times.fold(0.0, f64::max)]
    }
}

/// What an arm took in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendRun {
    /// The run's name.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The time per operation in a typical slice.
    pub typical_ns: f64,
}

/// A level that changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelChange {
    /// The first run of the new level, by its index.
    pub at: usize,
    /// The level before: the median of its runs.
    pub before_ns: f64,
    /// The level after.
    pub after_ns: f64,
    /// The new level over the old one.
    pub ratio: f64,
    /// The share of orders of the same runs in which some change is as large.
    pub p: f64,
    /// What else differs between the last run before and the first one after.
    pub facts: Vec<Fact>,
}
