//! Records what programs do with files: every call of a command, or of running processes, and
//! of all that they start.
//!
//! A [`Recorder`] is one of three mechanisms. eBPF has the kernel write calls into a ring, and
//! costs some hundred nanoseconds each; it needs rights. A preloaded library writes them into a ring
//! from within the program, and costs less than that, or a microsecond or two for what the C library
//! calls of itself; it needs no rights, and static programs do not take it. ptrace stops the program
//! at each of its calls, and costs ten microseconds or more; it needs no rights, and sees all programs.
//!
//! What the program does is not changed: its descriptors, signals and exit code are its own, and
//! it goes on if the recorder is killed. Neither contents of files nor arguments or environments
//! are recorded.
//!
//! ```
//! use std::process::Command;
//!
//! use iotoll_record::Recorder;
//! use iotoll_record::trace::TraceWriter;
//!
//! let mut command = Command::new("cat");
//! command.arg("/proc/self/comm");
//! let mut recorder = Recorder::new(None, Some(&command))?;
//! let trace = TraceWriter::new(Vec::new(), &recorder.header("cat".as_ref(), false))?;
//! let recorded = recorder.record(&mut command, trace, |process| println!("process {process}"))?;
//! println!("{} calls by {:?}", recorded.calls, recorder.mechanism());
//! assert!(recorded.calls > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Recorder::calibrate`] finds out before what recording costs, so that it can be taken out of the
//! trace's figures.
//!
//! # Inside
//!
//! All mechanisms report `RawCall`s to a `Sink`, which makes entries of a trace (`recording.rs`). One
//! table (`table.rs`) says of each system call what its arguments are: what the kernel is asked to report, what is
//! read from memory and what stands in the trace follow from it.
//!
//! - `ebpf` assembles a handful of short programs. They ask the kernel's description of
//!   its types (BTF) for offsets, look up whether a call and its thread are followed, and write into a ring.
//!   `ebpf/observers.rs` adds page faults, `io_uring` and idle times. A test compares all instructions
//!   with a listing.
//! - `preload` is C without libc. It replaces libc's functions for the most frequent calls; all others raise
//!   SIGSYS (syscall user dispatch). Calls are always made from the library's text, children arm
//!   themselves (`clone.c`), and SIGSYS is never blocked (`signals.c`). Records go to a ring in memory behind
//!   one atomic addition. Everything that is read from the ring is copied first and is never an address.
//!   `shared.rs` is what both sides agree on; the compiler refuses the library where a field is elsewhere.
//! - `ptrace` stops every call. Neither it nor the library reports for how long a call waited.
//!
//! A command waits (`start.rs`) until it is followed, and its calls before it becomes its program are dropped.

mod bytes;
mod call_record;
mod connections;
mod ebpf;
mod elsewhere;
mod error;
mod files;
mod followed;
mod foreign;
mod inherited;
mod kernel_work;
mod mapped;
mod middles;
mod outside;
mod overhead;
mod pace;
mod preload;
mod privileges;
mod processor_time;
mod ptrace;
mod raw_call;
mod recorder;
mod recording;
mod regular_file;
mod sample;
mod shared;
mod start;
mod starts;
mod table;
mod timing;
mod wanted;

pub use elsewhere::Elsewhere;
pub use error::Error;
pub use overhead::{Calibration, Overhead, time_calls};
#[cfg(feature = "fuzz")]
pub use preload::fuzz;
pub use privileges::program_of;
pub use recorder::{PassedOver, Recorder};
pub use recording::Recorded;

/// What is recorded, and how it is read again.
pub use trace;
