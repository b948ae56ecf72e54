//! Everything that reads what others wrote, as targets that are given inputs which nobody would
//! write. None may panic, hang, or take more memory than its bound.
//!
//! Inputs are made from the project's own types ([`mutate`]); libFuzzer keeps those that reach code
//! which none before has reached, and makes others from them. The engine is in the program alone,
//! which `cargo xtask fuzz` builds. The tests run each target's seeds, and the inputs that once found
//! something, through the same targets.

pub mod allocations;
pub mod findings;
pub mod mutate;
pub mod outcome;
mod target;
mod targets;

pub use target::Target;
pub use targets::all;
