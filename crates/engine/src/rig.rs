//! What slices run on: the real machine, or a simulated one in tests.

use std::time::Duration;

use model::result::Floor;
use model::sample::Sample;
use stats::Histogram;

use crate::study::{Operations, StudyError};

/// Runs slices. Everything that touches the machine is behind this.
pub trait Rig {
    /// Time since the run began.
    fn elapsed(&self) -> Duration;

    /// Whether the run was told to end.
    fn stopped(&self) -> bool;

    /// What measuring itself costs.
    fn floor(&mut self) -> Floor;

    /// How long one unit of the latencies is, in nanoseconds.
    fn tick_ns(&self) -> f64;

    /// By what share the clock that times slices and the system's have gone apart
    /// since the run began; nothing where there is only one clock.
    fn clock_off_by(&self) -> Option<f64> {
        None
    }

    /// What cannot be read here, each with what is not known for it.
    fn unread(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether what an arm's slice leaves behind makes its next one faster.
    fn warms_up(&self, arm: usize) -> bool {
        let _ = arm;
        true
    }

    /// How many operations a slice of that arm may have.
    fn operations(&self, arm: usize) -> Operations;

    /// Runs one slice on fresh files, with earlier writeback settled. The
    /// latencies of its operations replace those in `latencies`; the sample's
    /// arm, block and position are left for the caller to fill in.
    fn slice(
        &mut self,
        arm: usize,
        operations: u64,
        latencies: &mut Histogram,
    ) -> Result<Sample, StudyError>;
}
