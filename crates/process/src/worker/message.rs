//! What travels to a worker over a pipe, beside the protocol that all transports share.

use host::clock::ClockTold;
use serde::{Deserialize, Serialize};

use super::protocol::Assignment;

/// What is written to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToWorker {
    /// To make ready for some work.
    Work {
        /// The clock, for workers that read ticks.
        clock: ClockTold,
        /// The work.
        assignment: Assignment,
    },
    /// To start when `CLOCK_MONOTONIC` shows so many nanoseconds; at once where that was before.
    Start(u64),
}
