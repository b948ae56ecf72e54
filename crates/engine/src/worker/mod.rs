//! Workers: whoever does a slice's I/O at the side of others. A thread of ours,
//! a process of ours, an interpreter that runs one of the users' languages.
//!
//! All speak the protocol in [`protocol`], a line of JSON at a time: a worker is
//! told the work, says that it is ready, starts at the time it is told, and
//! reports its latencies and what was acknowledged to it. Then it waits for more
//! work, so that one process serves many slices. [`Crew`] starts workers
//! together and gathers their reports; nothing above it knows which kind they
//! are. [`serve`] is the other end, for workers written in Rust.

mod crew;
mod process;
pub mod protocol;
mod serve;
mod team;

pub use crew::Crew;
pub use process::Program;
pub use protocol::{Report, Ticket};
pub use serve::serve;
pub use team::{Hands, Pool};
