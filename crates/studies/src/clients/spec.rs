//! What studies have in their descriptions that several clients can do.

use model::scaling::{CLIENTS, CLIENTS_PER_S};
use model::study::{Better, FigureSpec, ParamKind, ParamSpec, Unit};

use crate::specs::figure;
use crate::together;

/// How many clients there are.
pub(crate) const PARAM: ParamSpec = ParamSpec {
    name: CLIENTS,
    about: "how many ranks of MPI do this at the same time; all of them unless given",
    kind: ParamKind::Count { min: 1, max: 1024 },
    default: "1",
};

/// What all of them get done.
pub(crate) const RATE: FigureSpec = FigureSpec {
    unit: Unit::PerSecond,
    better: Better::More,
    ..figure(CLIENTS_PER_S, "all clients/s", "operations per second, all clients together")
};

/// How even, how slow at worst, and how much apart.
pub(crate) const FIGURES: [FigureSpec; 4] =
    [RATE, together::FAIRNESS, together::SLOWEST, together::SKEW];
