//! From a plan to blocks, to slices, to the record of a run ([`run::run`]).
//!
//! Owns the traits that the rest plugs into: [`study::Study`] is what is timed,
//! [`local::PlaceHandle`] is a place as slices use it, [`runner::SliceRunner`] is what
//! slices run on, and [`run::Environment`] what surrounds them. What follows from
//! the record is the crate `analysis`'s. The engine emits [`measure::Event`]s and
//! never prints.

pub mod error;
mod floor;
pub mod folders;
pub mod job;
mod ledger;
pub mod local;
pub mod measure;
pub mod needs;
mod order;
mod pace;
mod place_floor;
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
