//! The commands that record a program's own file calls.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use model::plan::parse_budget;

const RECORD_NOTES: &str = "\
The command's standard input, output and error, its signals and its exit code
are its own; the bill is printed on standard error. Recorded are the calls of
the command and of all that it starts: which files, how much, how long. What is
in the files is not, and neither are arguments and environments.

  iotoll record -- php append.php
  iotoll record -o clone.trace -- git clone repository copy
  iotoll show clone.trace

Exit codes:
  the command's own; if a signal ended it, the same signal ends iotoll
  1    it could not be recorded, and was not run
  2    invalid usage or input, or the command cannot be run";

const WATCH_NOTES: &str = "\
Examples:
  iotoll watch $(pidof -s nginx) --for 30s
  iotoll watch 4711 -o server.trace

Exit codes:
  0    it was recorded
  1    it could not be recorded
  2    invalid usage or input";

#[derive(Args)]
#[command(after_help = RECORD_NOTES)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) how: HowArgs,

    /// The command, with its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args)]
#[command(after_help = WATCH_NOTES)]
pub(crate) struct WatchArgs {
    /// The process, with all that descend from it
    #[arg(value_name = "PID")]
    pub(crate) process: u32,

    /// How long, as in 30s or 5min [default: until Ctrl-C, or until it ends]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_budget)]
    pub(crate) time: Option<Duration>,

    #[command(flatten)]
    pub(crate) how: HowArgs,
}

#[derive(Args)]
pub(crate) struct HowArgs {
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
