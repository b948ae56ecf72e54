//! Workers on several machines: the ranks of a program that was started by MPI's launcher.
//!
//! Every rank is one process of `iotoll`, started with the same arguments. Rank 0 is the
//! [`Leader`]: it plans, measures and reports as a run on one machine does, and to a study it
//! is [`Clients`](process::worker::Clients), the workers of a group. Each other rank
//! [`serve`]s: it starts a worker process of its own, and passes on what that is told and
//! what it reports. Rank 0 has such a worker, too.
//!
//! What travels between them is in `message.rs`, and goes over a [`Comm`]. The one for real
//! is `World`, over MPI, with the feature `mpi`; tests have one of channels, and the feature
//! `simulated` has one for a thousand ranks that are none. Whether a launcher started this process at all is told by its environment ([`Launch`]), without MPI.
//!
//! # Inside
//!
//! The ranks are a tree, eight below each (`tree.rs`). Reports pass through it with one histogram for all, so the
//! work of rank 0 does not grow with the operations. A start is a moment of each rank's `CLOCK_MONOTONIC`;
//! `clock.rs` knows the clocks of the ranks below to within half of the shortest round trip. Ranks look for
//! messages and sleep, because waiting in MPI would spin on a CPU that is being measured. Messages carry the
//! number of their slice. mpi-sys declares the C interface; only the first thread calls it.

mod clock;
mod clocks;
mod comm;
mod error;
mod gathering;
mod idle;
mod launch;
mod leader;
mod message;
#[cfg(feature = "mpi")]
mod mpi;
mod own;
mod serve;
#[cfg(feature = "simulated")]
pub mod simulated;
#[cfg(test)]
mod tests;
mod transport;
mod tree;
mod waiting;

pub use comm::{Comm, Failure};
pub use error::Error;
pub use launch::Launch;
pub use leader::Leader;
pub use message::{Mark, OwnPlace, Sight};
#[cfg(feature = "mpi")]
pub use mpi::World;
pub use serve::{Here, serve};
