//! What is timed to calibrate a recorder: the build script makes a header of it, so that the program
//! in C (`preload/time_calls.c`) and the loop in Rust (`overhead.rs`) time the same.

/// The call that is timed writes so much: a line of a log.
pub(crate) const CALL_BYTES: usize = 70;
/// The call that is timed beside it asks for this, whose name is about as long as most are.
pub(crate) const NAMED: &str = "/proc/self/task/../../self/task/../fd";
/// The same where the processor's cache is emptied between the calls, as a program does that works on
/// what it reads: writes at this offset, and another name.
pub(crate) const COLD_OFFSET: u64 = 70;
pub(crate) const COLD_NAMED: &str = "/proc/self/task/../../self/task/../ns";
/// So much is read between two such calls: more than the cache holds that is nearest to a processor.
pub(crate) const COLD_BYTES: usize = 64 << 10;
/// Of so many calls one is timed that way.
pub(crate) const COLD_PART: u32 = 5;
/// So many rounds are timed each time: short ones, most of which nothing interrupts.
pub(crate) const ROUNDS: usize = 10;
/// The number of processes that are started each time, and of those that execute a program.
pub(crate) const STARTS: usize = 24;
