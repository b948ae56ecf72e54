//! What a selftest is asked to do.

use std::time::{Duration, Instant};

use process::StopFlag;

use crate::study::Study;

/// What a selftest is asked to do.
pub struct Settings<'a> {
    /// The study that is timed.
    pub study: &'a dyn Study,
    /// Its strategy.
    pub strategy: &'a str,
    /// When the budget started to count.
    pub began: Instant,
    /// How long all places may take together.
    pub budget: Duration,
    /// What everything random is made from.
    pub seed: u64,
    /// Raised to interrupt the test.
    pub stop: StopFlag,
}
