//! From a plan to blocks, to slices, to the record of a run ([`run::run`]).
//!
//! Owns the traits that the rest plugs into: [`study::Study`] is what is timed,
//! [`place_handle::PlaceHandle`] is a place as slices use it, [`runner::SliceRunner`] is what
//! slices run on, and [`run::Environment`] what surrounds them. What follows from
//! the record is the crate `analysis`'s. The engine emits [`measure::Event`]s and
//! never prints.
//!
//! # Inside
//!
//! `measure.rs` calibrates slices to about 5 ms, runs rounds for warming up, and then ten stretches
//! (`schedule.rs`). `order.rs` draws the order of each round. Studies whose slices always have the same number
//! of operations are not calibrated, and those that start everything again (`About::warms_up`) are not
//! warmed up: their slices may take seconds.
//!
//! `local.rs` and `slice_meter.rs` take a slice through its states: `Workload`, `Ready`, `Ran` and
//! `Outcome`. Each is a type that the next one consumes. No trait that is wrapped has a method with a default
//! body, so what wraps one cannot forget any.
//!
//! `slice_process` runs slices in a process with one thread, a new one for each stretch. The run keeps
//! everything that outlives a slice: folders, their removal, the limit of written bytes (`ledger.rs`), the flag
//! that signals raise, and the store. `About::runs_in` names the exceptions: studies that start programs
//! keep one process for the whole run, and the planted slow-downs of `selftest` run in the run's own.
//! While that process prepares a slice, the run puts away what earlier ones left (`leftovers.rs`).

pub mod error;
mod first_touch;
mod floor;
pub mod folders;
pub mod job;
mod ledger;
mod leftovers;
pub mod local;
pub mod measure;
pub mod needs;
mod order;
mod pace;
mod place_floor;
pub mod place_handle;
pub mod power;
pub mod run;
pub mod run_limits;
pub mod runner;
mod schedule;
pub mod selftest;
mod slice_meter;
pub mod slice_process;
pub mod slice_timer;
pub mod study;
#[cfg(test)]
mod testing;
pub mod unchanging;
