//! `iotoll record`: a command, recorded from its first call to its end.

use std::ffi::OsString;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use anyhow::Context as _;
use clap::{Args, ValueHint};
use record::Recorder;
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use sys::signals;
use trace::{Bill, Header, TraceWriter};
use units::Limit;

use crate::cli::{MECHANISMS, TraceArgs, Wanted, heading, one_of};
use crate::exit::Exit;
use crate::recording::limits::{self, Limits};
use crate::recording::{self, RecordedRun};
use crate::terminal::output;

const RECORD_EXAMPLES: &str = "\
Examples:
  iotoll record -- php append.php
  iotoll record -o clone.trace -- git clone repository copy
  iotoll record -- sh -c 'make && make install'
  iotoll record --ops 300 --fail 'syncs > 3/op' -- ./load-test
  iotoll show clone.trace";

const RECORD_NOTES: &str = "\
The command keeps its standard input, output and error (but for -o -), its
signals and its exit code. The bill is printed on standard error. iotoll records
the calls of the command and of all processes that it starts: which files, how
much, how long. It does not record contents of files, arguments or environments.

Exit codes:
  the command's own; if a signal ended it, the same signal ends iotoll
  4    the command succeeded, and a limit of --fail is undecided
  5    the command succeeded, and a limit of --fail is missed
  1    it could not be recorded, and was not run
  2    invalid usage or input, or the command cannot be run";

/// Run a command and record the time of its file calls
#[derive(Args)]
#[command(after_help = RECORD_EXAMPLES)]
#[command(after_long_help = format!("{RECORD_EXAMPLES}\n\n{RECORD_NOTES}"))]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    trace: TraceArgs,

    /// See the calls by auto, ebpf, preload or ptrace
    ///
    /// auto: the first of the others that can be used. ebpf: some 0.4 µs for each call; needs
    /// root, or `CAP_BPF` and `CAP_PERFMON`. preload: some 0.1 µs for each call, 2 µs where the
    /// C library makes it by itself; needs no rights, and records programs that load libraries.
    /// ptrace: 10 to 100 µs for each call; needs no rights. [default: auto]
    #[arg(long, value_parser = one_of(&MECHANISMS), default_value = "auto")]
    #[arg(value_name = "HOW", hide_default_value = true, hide_possible_values = true)]
    mechanism: Wanted,

    /// Exit with 5 if a figure is beyond a limit
    ///
    /// Name a figure, a sign and a value, as in 'write.bytes > 1MiB' or 'share > 20%'. A limit
    /// per operation, as in 'syncs > 3/op', needs --ops. Exit with 4 if that is undecided. It can
    /// be given again.
    #[arg(long, value_name = "LIMIT", help_heading = heading::CI)]
    fail: Vec<Limit>,

    /// Run this command, with its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<Exit> {
    let Some((program, arguments)) = args.command.split_first() else { return Ok(Exit::Usage) };
    let limits = Limits {
        limits: &args.fail,
        operations: args.trace.ops.map(|operations| operations as f64),
    };
    limits.check()?;
    let mut command = Command::new(program);
    command.args(arguments);
    if args.trace.is_to_stdout() {
        command.stdout(io::stderr());
    }
    let mut recorder = Recorder::new(args.mechanism.0, Some(&command))?;
    recorder.check(&command)?;
    let file = recording::file(&args.trace, program)?;
    let calibrated = recording::calibrate(&mut recorder)?;
    let (file, written) = file.begin()?;
    let trace = TraceWriter::new(
        file,
        &Header { operations: args.trace.ops, ..recorder.header(program, false) },
    )?;
    let child = for_the_command()?;
    let begun = |process: u32| child.store(process.cast_signed(), Ordering::SeqCst);
    let outcome = recorder.record(&mut command, trace, begun)?;
    child.store(0, Ordering::SeqCst);
    let told = RecordedRun {
        recorder: &recorder,
        outcome: &outcome,
        trace: &written,
        limits,
        elsewhere: None,
    };
    let bill = told.bill();
    output::aside(|width| told.text(bill.as_ref(), width));
    calibrated.renew(&mut recorder);
    match outcome.summary.status {
        None => Ok(Exit::CouldNot),
        Some(0) => judged(limits, bill),
        Some(status) => Ok(ended_as(status)),
    }
}

/// How a recording ends whose command succeeded.
fn judged(limits: Limits<'_>, bill: Option<anyhow::Result<Bill>>) -> anyhow::Result<Exit> {
    if limits.limits.is_empty() {
        return Ok(Exit::Done);
    }
    let bill = bill.context("the trace cannot be read again, so --fail was not checked")?;
    Ok(limits::exit(&limits.judge(&bill?)))
}

/// Signals are for the command. Those of the terminal reach it without us; those that another process
/// sends are passed on. The number is that of its process, once there is one.
fn for_the_command() -> anyhow::Result<Arc<AtomicI32>> {
    let child = Arc::new(AtomicI32::new(0));
    signals::pass_on_sent([SIGINT, SIGQUIT], &child)
        .and_then(|()| signals::pass_on([SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM], &child))
        .context("preparing for signals")?;
    Ok(child)
}

/// Ends as the command did, as wait(2) has it: by the same signal, or with the same code.
fn ended_as(status: i32) -> Exit {
    /// What shells add to a signal's number.
    const BY_SIGNAL: u8 = 128;
    let signal = status & 0x7f;
    if signal == 0 {
        return Exit::Command((status >> 8 & 0xff) as u8);
    }
    signals::end_by(signal);
    Exit::Command(BY_SIGNAL + signal as u8)
}
