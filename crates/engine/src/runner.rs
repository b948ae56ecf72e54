//! What slices run on: the real machine, or a simulated one in tests.

use std::time::Duration;

use model::run::{Floor, Writes};
use model::slice::Slice;

use crate::error::StudyError;
use crate::study::Operations;

/// Runs slices. Everything that touches the machine during a run is behind this.
pub trait SliceRunner {
    /// Time since the run began.
    fn elapsed(&self) -> Duration;

    /// Tells the runner when the run ends. A pause that would go beyond that is not waited for: its
    /// time counts as passed.
    fn end_at(&mut self, budget: Duration);

    /// Whether the run was interrupted.
    fn stopped(&self) -> bool;

    /// What measuring itself costs, and how long one tick of the latencies is.
    fn floor(&mut self) -> Floor;

    /// By what share the clock that times slices and the system's have gone apart
    /// since the run began; nothing where there is only one clock.
    fn clock_off_by(&self) -> Option<f64>;

    /// What cannot be read here, each with what is not known for it.
    fn unread(&self) -> Vec<String>;

    /// Whether what an arm's slice leaves behind makes its next one faster.
    fn warms_up(&self, arm: usize) -> bool;

    /// How many operations a slice of that arm may have.
    fn operations(&self, arm: usize) -> Operations;

    /// What was written so far; nothing where nobody counts.
    fn writes(&self) -> Option<Writes>;

    /// Lets the slices that follow have folders and workers that none before had.
    fn begin_stretch(&mut self);

    /// Ends the processes that slices ran in, so that what they used is known. Another slice
    /// starts new ones.
    fn end(&mut self);

    /// Runs one slice, with what earlier ones left settled. The slice's
    /// arm, phase and position are left for the caller to fill in.
    fn slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError>;
}
