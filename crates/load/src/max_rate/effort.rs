//! How thoroughly the highest rate is searched for, and with which parameters.

/// A try has never fewer connections than these.
const TRY_CONNECTIONS_MIN: f64 = 10.0;

/// How thoroughly the highest rate is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// As one slice of a measurement, which is repeated.
    Quick,
    /// Once and for all, confirmed by a long step.
    Confirmed {
        /// Connections in that step; ten seconds' worth when `None`.
        connections: Option<u64>,
    },
}

/// The parameters of a search of some effort.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters {
    /// Length of a try …
    pub(super) try_s: f64,
    /// … which has at least so many connections …
    pub(super) try_connections: f64,
    /// … unless they would take longer than this.
    pub(super) try_s_max: f64,
    /// The search ends when the gap is smaller than this share of the rate.
    pub(super) precision: f64,
    /// A search has no more tries than these.
    pub(super) tries_max: usize,
    /// So many tries are repeated at once because of the client.
    pub(super) repeats: u32,
    /// So many rates that were not held are tried once more.
    pub(super) rechecks: u32,
}

pub(super) const QUICK: Parameters = Parameters {
    try_s: 0.35,
    try_connections: 50.0,
    try_s_max: 2.0,
    precision: 0.035,
    tries_max: 24,
    repeats: 3,
    rechecks: 1,
};

/// A hundred connections have a 99th percentile, however long they take. Any
/// try in which the client was disturbed is repeated: without a bound on the
/// 99th percentile, a disturbance makes it invalid however small it is.
pub(super) const CONFIRMED: Parameters = Parameters {
    try_s: 1.0,
    try_connections: 100.0,
    try_s_max: f64::INFINITY,
    precision: 0.03,
    tries_max: 60,
    repeats: u32::MAX,
    rechecks: 3,
};

impl Parameters {
    pub(super) fn of(effort: Effort) -> Self {
        match effort {
            Effort::Quick => QUICK,
            Effort::Confirmed { .. } => CONFIRMED,
        }
    }

    pub(super) fn connections_of_try(&self, rate: f64) -> u64 {
        let fewest = self.try_connections.min(rate * self.try_s_max).max(TRY_CONNECTIONS_MIN);
        (rate * self.try_s).max(fewest).round() as u64
    }
}
