//! How to record, and where the trace goes.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use trace::Mechanism;

/// The ways to see a command's calls; none for the first that can be used.
pub(crate) const MECHANISMS: [(&str, Wanted); 4] = [
    ("auto", Wanted(None)),
    ("ebpf", Wanted(Some(Mechanism::Ebpf))),
    ("preload", Wanted(Some(Mechanism::Preload))),
    ("ptrace", Wanted(Some(Mechanism::Ptrace))),
];

/// Those of a process that runs already, into which no library can be loaded. None is chosen for
/// the user, for ptrace would stop a busy server at each call.
pub(crate) const MECHANISMS_OF_RUNNING: [(&str, Mechanism); 2] =
    [("ebpf", Mechanism::Ebpf), ("ptrace", Mechanism::Ptrace)];

/// A mechanism that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted(pub(crate) Option<Mechanism>);

#[derive(Args)]
pub(crate) struct TraceArgs {
    /// Write the trace here [default: PROGRAM.trace]
    ///
    /// Another trace of that name is replaced, unless it is still being written: then the
    /// default name gets the process's number. `-` is standard output: the command then prints
    /// on standard error.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Say how many operations the program does
    ///
    /// The bill then has the cost of each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) ops: Option<u64>,
}

impl TraceArgs {
    /// Whether the trace is what is printed.
    pub(crate) fn is_to_stdout(&self) -> bool {
        self.output.as_deref().is_some_and(|path| path.as_os_str() == "-")
    }
}
