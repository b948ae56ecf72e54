//! Workers: whoever does a slice's I/O beside others. A thread of this process, a
//! process of this program, an interpreter that runs one of the users' languages.
//!
//! All follow one protocol: a worker is given an [`Assignment`], says that it is
//! ready, starts together with the others, and sends a [`Report`] of its latencies
//! and of what was acknowledged to it. Then it waits for more work, so that one
//! process serves many slices. [`WorkerGroup`] goes through this with several
//! workers; nothing above it knows which kind they are.
//!
//! How the messages travel, and how workers start together, is the affair of a
//! [`Transport`]. The one there is sends lines of JSON over pipes, and has all start
//! when `CLOCK_MONOTONIC` shows an agreed time. Reports tell times from the start
//! on, so that a transport to other machines needs no clock that all of them share.
//! Such a one is brought along by [`Clients`], who has a [`LocalWorker`] on each machine.
//! [`serve`] is the worker's end of the pipes, for workers written in Rust.

mod child;
mod clients;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod group;
mod kind;
mod lines;
mod local;
mod message;
mod pipe;
mod pipe_worker;
mod pool;
mod protocol;
mod serve;
mod thread;
mod transport;

pub use child::Program;
pub(crate) use child::{ChildProcess, DYING_MAX};
pub use clients::{Clients, path_of};
pub use group::{RunningGroup, WorkerGroup};
pub use kind::WorkerKind;
pub use local::LocalWorker;
pub use pool::WorkerPool;
pub use protocol::{Assignment, CLOCK_ERROR, FromWorker, Report, span_ns, spent};
pub use serve::{Session, Started, Work, serve};
pub use transport::Transport;
