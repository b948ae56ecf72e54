//! What the project's chores share: running programs, bounded in time, and knowing which
//! are installed. The chores themselves are this package's program and those in `tools/`.

// Chores speak to the developer who runs them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod files;
pub mod libtest_output;
pub mod packages;
pub mod pool;
pub mod process;
pub mod site;
pub mod timeout;
