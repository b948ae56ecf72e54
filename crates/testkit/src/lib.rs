//! A simulated machine, on which a whole run takes no time and can be asserted.
//!
//! For what reality cannot show on demand: a known difference, drift, stalls,
//! a place that fails at a chosen moment, an interrupt, a budget that runs out.

mod run;
mod runner;

pub use run::{run, run_watched};
pub use runner::{ArmBehaviour, SimulatedRunner};
