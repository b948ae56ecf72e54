//! What a rank gathers of a step of a slice: what its own worker says, and what comes from
//! below.

use process::worker::FromWorker;

use crate::tree::{Said, above, add_up, below, joined};

/// What has come so far.
pub(crate) struct Gathering {
    rank: usize,
    unit_ns: f64,
    lacks_own: bool,
    awaited: Vec<usize>,
    all: Vec<Said>,
}

impl Gathering {
    /// Nothing yet, for a rank of so many.
    pub(crate) fn begin(rank: usize, of: usize, unit_ns: f64) -> Self {
        let awaited = below(rank, of).collect();
        Self { rank, unit_ns, lacks_own: true, awaited, all: Vec::new() }
    }

    /// What the rank's own worker says. After its last word there is none.
    pub(crate) fn add_own(&mut self, what: Result<FromWorker, String>) {
        if std::mem::take(&mut self.lacks_own) {
            self.all.push(Said::of(self.rank, what));
        }
    }

    /// What comes from a rank below.
    pub(crate) fn add(&mut self, rank: usize, all: Vec<Said>) {
        self.awaited.retain(|awaited| *awaited != rank);
        self.all.extend(all);
    }

    /// Whether the own worker has not come to an end.
    pub(crate) fn lacks_own(&self) -> bool {
        self.lacks_own
    }

    /// The ranks below that have not said anything.
    pub(crate) fn awaited(&self) -> Vec<usize> {
        self.awaited.clone()
    }

    /// Whether all has come.
    pub(crate) fn is_whole(&self) -> bool {
        !self.lacks_own && self.awaited.is_empty()
    }

    /// To whom all of it goes, with latencies added up.
    pub(crate) fn finish(mut self) -> (usize, Vec<Said>) {
        add_up(&mut self.all, self.unit_ns);
        (above(self.rank), joined(self.all))
    }
}
