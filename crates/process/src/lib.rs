//! Starts, feeds, watches and ends processes.
//!
//! [`worker`] does a slice's work beside other workers, in threads, in processes of
//! this program or in interpreters, over a [`Transport`](worker::Transport). [`OwnProcess`] is
//! this program started again, to run slices in a process with one thread.
//! [`Program`] runs a command to its end. [`Server`] starts, awaits and stops a server that somebody else loads, and
//! [`ServerWatch`] reads what its processes use. [`in_confined_child`] reads what strangers wrote.
//!
//! # Inside
//!
//! A worker may be a thread, a process of this program or an interpreter. All follow one protocol: take an
//! assignment, be ready, start together, report latencies, acknowledged records and used resources. Messages
//! travel by a `Transport`: pipes on this machine, or MPI in the crate `ranks`. Times in a report count from the
//! group's start by the worker's clock, so no transport needs a shared clock.
//!
//! Processes of this program begin in `/` with a cleared environment (`isolation.rs`). Every wait for the end of a
//! process is bounded; [`take_left_behind`] names those that could not be ended. The supervisor of a server uses
//! only old system calls, because filters of containers refuse new ones.

mod confined;
mod ending;
mod error;
mod isolation;
mod last_words;
mod left;
mod own_process;
mod program;
mod server;
mod stop;
mod supervised;
mod supervisor;
pub mod worker;

pub use confined::{in_confined_child, in_confined_thread};
pub use error::Error;
pub use isolation::isolate;
pub use left::{leave_behind, take_left_behind};
pub use own_process::{Channel, OwnProcess, parents_channel};
pub use program::{Ended, Program};
pub use server::{Port, Server, ServerWatch};
pub use stop::StopFlag;
