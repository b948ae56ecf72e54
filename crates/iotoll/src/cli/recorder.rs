//! How to record, and where the trace goes.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

#[derive(Args)]
pub(crate) struct RecorderArgs {
    /// Where to write the trace; another trace there is replaced [default: PROGRAM.trace]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// How to see the calls: by programs in the kernel, which needs root, or by stopping at each
    #[arg(long, value_enum, default_value_t = MechanismArg::Auto)]
    pub(crate) mechanism: MechanismArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MechanismArg {
    /// The first of these that can be used
    Auto,
    /// Some 0.2 µs for each call; needs root, or `CAP_BPF` and `CAP_PERFMON`
    Ebpf,
    /// Some 0.1 µs for each call, 2 µs where the C library makes it by itself; needs no rights,
    /// and records programs that load libraries
    Preload,
    /// 10 µs and more for each call; needs no rights
    Ptrace,
}
