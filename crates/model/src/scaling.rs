//! How what several clients get done together grows with their number.

use serde::{Deserialize, Serialize};

/// The parameter by which a study says how many clients do it together. One that lacks it is
/// done by one alone.
pub const CLIENTS: &str = "clients";

/// The parameter by which a study says how many threads the process has in which one of them does
/// the work. One that lacks it has one.
pub const THREADS: &str = "threads";

/// The figure in which such a study says what several of them get done together in a second.
pub const CLIENTS_PER_S: &str = "clients_per_s";

/// One way of doing something at one place, by more and more clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scaling {
    /// The study.
    pub study: String,
    /// How it is done.
    pub strategy: String,
    /// The place's label.
    pub place: String,
    /// What so many clients get done, the fewest first.
    pub points: Vec<ScalingPoint>,
    /// The knee: so many clients get as much done together as any number of them did, within
    /// what matters.
    pub knee: u64,
}

/// What some clients get done.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScalingPoint {
    /// The arm, as an index.
    pub arm: usize,
    /// How many clients there are.
    pub clients: u64,
    /// What all of them together get done in a second, from the first start to the last end.
    pub per_s: f64,
}
