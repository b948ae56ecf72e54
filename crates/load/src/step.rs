//! What drives a step, and a step as it was run.

use crate::{Schedule, meter::Meter, usage::OwnUse};

/// What drives a step.
pub(crate) enum Drive {
    Open(Box<Schedule>),
    Closed { concurrency: u32, requests: u64 },
}

/// A step as it was run.
pub(crate) struct FinishedStep {
    pub(crate) meter: Meter,
    pub(crate) end_ns: u64,
    /// While there was still something to start.
    pub(crate) active: OwnUse,
    /// All of it.
    pub(crate) whole: OwnUse,
    pub(crate) sources: u32,
    pub(crate) interrupted: bool,
    /// Whether it ended by itself before everything was started.
    pub(crate) narrow: bool,
}
