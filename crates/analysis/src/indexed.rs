//! A run with its slices by arm: to look through all of them for each arm, or for each
//! comparison, would take the square of what the run took.

use std::ops::Deref;

use model::run::Run;
use model::slice::{Latencies, Slice};

/// A run whose slices are found by their arms.
pub(crate) struct Indexed<'a> {
    run: &'a Run,
    slices: Vec<Vec<&'a Slice>>,
}

impl<'a> Indexed<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        Self { run, slices: run.slices_by_arm() }
    }

    /// An arm's slices that count, in the order in which they ran.
    pub(crate) fn slices_of(&self, arm: usize) -> impl Iterator<Item = &'a Slice> + Clone {
        self.slices.get(arm).into_iter().flatten().copied()
    }

    /// The latencies of all of them together.
    pub(crate) fn latencies_of(&self, arm: usize) -> Latencies {
        Latencies::sum(self.slices_of(arm).map(|slice| &slice.latencies))
    }
}

impl Deref for Indexed<'_> {
    type Target = Run;

    fn deref(&self) -> &Run {
        self.run
    }
}
