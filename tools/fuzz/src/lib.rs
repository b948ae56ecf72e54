//! Fuzzing targets for everything that reads what others wrote. None may panic, hang, or take more
//! memory than its bound.
//!
//! [`mutate`] makes inputs from the project's own types. libFuzzer keeps those that reach new code,
//! and makes others from them. Only the program has libFuzzer in it, and only `cargo xtask fuzz`
//! builds the program. The tests run the targets' seeds and past findings without it.

pub mod allocations;
pub mod findings;
pub mod mutate;
pub mod outcome;
mod target;
mod targets;

pub use target::Target;
pub use targets::all;
