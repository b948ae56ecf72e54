//! How much a comparison differs from run to run: what saved runs showed of it when a run
//! began. It is part of the run's record, so that a saved run says the same however many
//! follow it.

use serde::{Deserialize, Serialize};

/// What saved runs showed of one comparison; nothing where they showed too little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BetweenRuns {
    /// Of the ratio of the times per operation.
    #[serde(default)]
    pub time: Option<Learned>,
    /// Of the ratio of the 99th percentiles.
    #[serde(default)]
    pub p99: Option<Learned>,
}

/// How much a ratio differs from run to run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Learned {
    /// The standard deviation of its natural logarithm: 0.02 is about 2%.
    pub deviation: f64,
    /// With how many degrees of freedom that is known.
    pub degrees: f64,
    /// Saved runs of this comparison.
    pub runs: u64,
    /// The natural logarithm of the ratio in the last of them; unknown in a record of before it
    /// was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
}

impl Learned {
    /// Whether it can be reckoned with.
    pub(crate) fn is_valid(&self) -> bool {
        let Self { deviation, degrees, level, .. } = *self;
        let is_known = deviation > 0.0 && deviation.is_finite() && degrees >= 1.0;
        is_known && degrees.is_finite() && level.is_none_or(f64::is_finite)
    }
}
