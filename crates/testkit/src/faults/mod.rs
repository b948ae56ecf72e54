//! Runs of the real program in which a system call fails that succeeds else.
//!
//! The program and all that it starts are traced by ptrace(2). A run without a fault
//! says which calls there are and on what; each of them is a [`Site`], such as
//! `fdatasync place/work/slice-#/app.log`. Another run then has one site fail, by an
//! error or by a transfer cut short, once or from some time on, and is judged: whether
//! it ended, told what happened, left nothing, and did not take a failure for a success.
//!
//! strace can return errors as well, but a write that it makes short is a lie of the
//! kernel's: it says so without having written. Here the length itself is changed.
//!
//! What is expected of each failure is in a [`List`].
//!
//! Calls count from where a program's own code begins. What the dynamic loader does before
//! is not ours, nor is what an interpreter or server of others does beyond the run's
//! files. Rust's runtime sets up the stack for its signal handlers just before `main`,
//! which is where our own programs are taken to begin.

mod calls;
mod injection;
mod list;
mod object;
mod registers;
mod replayed;
mod subjects;
mod tracer;
mod trial;
mod watchdog;

pub use calls::{CALLS, Call, Fault, call_named};
pub use injection::{Injection, Site, When};
pub use list::{Expectation, List, Taken};
pub use subjects::{Subject, subjects};
pub use tracer::{Ended, Traced, trace, unavailable};
pub use trial::{Defect, Judged, Program, Scene, judge};
