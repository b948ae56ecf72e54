//! A slice runner that is used for many short runs, one after another.
//!
//! To each run its time begins anew. What an earlier run has learned is not
//! learned again: the harness's overhead, and about how many operations fill a
//! slice, so that calibrating takes two slices rather than six. Each arm still
//! finds its own number, in eighths, as it does for users.

use std::time::Duration;

use model::run::{Floor, Writes};
use model::slice::Slice;

use crate::error::StudyError;
use crate::runner::SliceRunner;
use crate::study::Operations;

/// Parts in which a slice's size is adjusted.
const PARTS: f64 = 8.0;

/// One run on a runner that others have used.
pub(super) struct Rerun<'r> {
    runner: &'r mut dyn SliceRunner,
    began: Duration,
    floor: Floor,
    /// About how many operations fill a slice.
    full: Option<f64>,
}

impl<'r> Rerun<'r> {
    /// Begins a run now.
    pub(super) fn new(runner: &'r mut dyn SliceRunner, floor: &Floor, full: Option<f64>) -> Self {
        let began = runner.elapsed();
        Self { runner, began, floor: floor.clone(), full }
    }
}

impl SliceRunner for Rerun<'_> {
    fn elapsed(&self) -> Duration {
        self.runner.elapsed().saturating_sub(self.began)
    }

    fn end_at(&mut self, budget: Duration) {
        self.runner.end_at(self.began.saturating_add(budget));
    }

    fn stopped(&self) -> bool {
        self.runner.stopped()
    }

    fn floor(&mut self) -> Floor {
        self.floor.clone()
    }

    fn clock_off_by(&self) -> Option<f64> {
        self.runner.clock_off_by()
    }

    fn unread(&self) -> Vec<String> {
        self.runner.unread()
    }

    fn writes(&self) -> Option<Writes> {
        self.runner.writes()
    }

    fn warms_up(&self, arm: usize) -> bool {
        self.runner.warms_up(arm)
    }

    fn operations(&self, arm: usize) -> Operations {
        let limits = self.runner.operations(arm);
        match self.full {
            Some(full) => Operations { granule: limits.fit(full / PARTS), ..limits },
            None => limits,
        }
    }

    fn begin_stretch(&mut self) {
        self.runner.begin_stretch();
    }

    fn end(&mut self) {
        self.runner.end();
    }

    fn slice(&mut self, arm: usize, operations: u64) -> Result<Slice, StudyError> {
        self.runner.slice(arm, operations)
    }
}
