//! What studies have in their descriptions that several clients can do.

use model::scaling::{CLIENTS, CLIENTS_PER_S};
use model::study::{FigureDescription, ParamDescription};

use crate::choices::choices;
use crate::specs::{self, count, per_second};
use crate::worker_stats;

choices! {
    /// Whether each of several clients has files or folders of its own, or all have the same.
    pub(crate) enum OwnOrSame {
        Own = "own",
        Same = "same",
    }
}

/// How many clients there are.
pub(crate) fn param() -> ParamDescription {
    let about = "how many ranks of MPI do this at the same time; all of them unless given";
    specs::param(CLIENTS, about, count(1, 1024, "1"))
}

/// What all of them get done.
pub(crate) fn rate() -> FigureDescription {
    per_second(CLIENTS_PER_S, "all clients/s", "operations per second, all clients together")
}

/// That, how even they are, how slow the slowest is, and how far apart they began.
pub(crate) fn figures() -> Vec<FigureDescription> {
    [vec![rate()], worker_stats::figures()].concat()
}
