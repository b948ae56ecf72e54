//! A rig that is used for many short runs, one after another.
//!
//! To each run its time begins anew. What an earlier run has learned is not
//! learned again: the harness's toll, and about how many operations fill a
//! slice, so that calibrating takes two slices rather than six. Each arm still
//! finds its own number, in eighths, as it does for users.

use std::time::Duration;

use model::result::Floor;
use model::sample::Sample;
use stats::Histogram;

use crate::rig::Rig;
use crate::study::{Operations, StudyError};

/// Parts in which a slice's size is adjusted.
const PARTS: f64 = 8.0;

/// One run on a rig that others have used.
pub(super) struct Rerun<'r> {
    rig: &'r mut dyn Rig,
    began: Duration,
    floor: Floor,
    /// About how many operations fill a slice.
    full: Option<f64>,
}

impl<'r> Rerun<'r> {
    /// Begins a run now.
    pub(super) fn new(rig: &'r mut dyn Rig, floor: &Floor, full: Option<f64>) -> Self {
        let began = rig.elapsed();
        Self { rig, began, floor: floor.clone(), full }
    }
}

impl Rig for Rerun<'_> {
    fn elapsed(&self) -> Duration {
        self.rig.elapsed().saturating_sub(self.began)
    }

    fn stopped(&self) -> bool {
        self.rig.stopped()
    }

    fn floor(&mut self) -> Floor {
        self.floor.clone()
    }

    fn tick_ns(&self) -> f64 {
        self.rig.tick_ns()
    }

    fn operations(&self, arm: usize) -> Operations {
        let limits = self.rig.operations(arm);
        match self.full {
            Some(full) => Operations { granule: limits.fit(full / PARTS), ..limits },
            None => limits,
        }
    }

    fn slice(
        &mut self,
        arm: usize,
        operations: u64,
        latencies: &mut Histogram,
    ) -> Result<Sample, StudyError> {
        self.rig.slice(arm, operations, latencies)
    }
}
