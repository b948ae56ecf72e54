//! What tests need and reality does not show on demand.
//!
//! A simulated machine, on which a whole run takes no time and can be asserted: a known
//! difference, drift, stalls, a place that fails at a chosen moment, an interrupt, a
//! budget that runs out. And [`faults`]: the real program, with a system call that fails.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod faults;
mod plan;
mod run;
mod runner;

pub use plan::plan;
pub use run::{run, run_among, run_article, run_watched};
pub use runner::{ArmBehaviour, SimulatedRunner};
