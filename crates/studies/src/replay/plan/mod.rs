//! Makes a program of a recording: what is done again, by which threads, in which order, and what
//! has to be there before.
//!
//! It is a function of the recording. Nothing here asks the system or acts on it, which
//! `cargo xtask tidy` checks.

mod calls;
mod effects;
pub(super) mod folder;
mod initial_state;
pub(super) mod make;
mod matters;
pub(super) mod not_replayed;
mod order;
mod paths;
pub(super) mod program;
pub(super) mod recording;
mod replay_threads;
mod shortest;
mod sizes;
mod threads;
mod waits;
