//! What is timed to calibrate a recorder: the build script makes a header of it, so that the program
//! in C (`preload/time_calls.c`) and the loop in Rust (`overhead.rs`) time the same.

/// The call that is timed writes so much: a line of a log.
pub(crate) const CALL_BYTES: usize = 70;
/// The call that is timed beside it asks for this, whose name is about as long as most are.
pub(crate) const NAMED: &str = "/proc/self/task/../../self/task/../fd";
/// So many rounds are timed each time: short ones, most of which nothing interrupts.
pub(crate) const ROUNDS: usize = 20;
