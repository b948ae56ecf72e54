//! Why ranks cannot work together.

use crate::comm::Failure;

/// Why ranks cannot work together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// MPI itself failed.
    #[error("MPI: {0}")]
    Mpi(#[from] Failure),
    /// One rank could not do its part.
    #[error("rank {rank}{}: {why}", on(.host))]
    Rank {
        /// Which one.
        rank: usize,
        /// The machine that it runs on; empty where it has not said yet.
        host: String,
        /// Why.
        why: String,
    },
    /// The run was told to end.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// That of a rank of which no more is known here.
    pub(crate) fn of(rank: usize, why: String) -> Self {
        Self::Rank { rank, host: String::new(), why }
    }
}

fn on(host: &str) -> String {
    if host.is_empty() { String::new() } else { format!(" on {host}") }
}

impl From<Error> for process::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped => Self::Stopped,
            other => Self::WorkerFailed(other.to_string()),
        }
    }
}
