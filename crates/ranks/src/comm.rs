//! The way between ranks.

use thiserror::Error;

/// Why a message could not be carried.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Failure(pub String);

/// Carries messages between ranks, each whole and in the order in which they were sent.
pub trait Comm {
    /// The rank of this process, from 0.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn ranks(&self) -> usize;

    /// Sends a message, and returns once it is under way.
    fn send(&self, to: usize, message: &[u8]) -> Result<(), Failure>;

    /// A message of that rank, if one has come.
    fn receive(&self, from: usize) -> Result<Option<Vec<u8>>, Failure>;
}
