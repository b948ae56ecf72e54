//! Records what programs do with files: every call of a command, or of running processes, and
//! of all that they start.
//!
//! A [`Recorder`] is one of two mechanisms. eBPF has the kernel write calls into a ring, and
//! costs some hundred nanoseconds each; it needs rights. ptrace stops the program at each of its
//! calls, and costs ten microseconds or more; it needs none. Both see static programs, programs
//! in Go and what the C library calls of itself.
//!
//! What the program does is not changed: its descriptors, signals and exit code are its own, and
//! it goes on if the recorder is killed. Neither contents of files nor arguments or environments
//! are recorded.

mod ebpf;
mod error;
mod files;
mod inherited;
mod privileges;
mod ptrace;
mod recorder;
mod recording;
mod sample;
mod seen;
mod start;
mod sys;
mod table;
mod toll;

pub use error::Error;
pub use recorder::Recorder;
pub use recording::Recorded;
pub use toll::{Toll, time_calls};
