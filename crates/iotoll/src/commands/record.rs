//! `iotoll record`: a command, recorded from its first call to its end.

use std::ffi::OsString;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use anyhow::Context as _;
use clap::{Args, ValueHint};
use record::Recorder;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use sys::signals;
use trace::TraceWriter;

use crate::cli::RecorderArgs;
use crate::exit::Exit;
use crate::recording::{self, RecordedRun, TraceFile};
use crate::terminal::output;

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

/// Run a command and record its file calls: what they cost, and what could be saved
#[derive(Args)]
#[command(after_help = RECORD_NOTES)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    how: RecorderArgs,

    /// The command, with its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &RecordArgs) -> anyhow::Result<Exit> {
    let Some((program, arguments)) = args.command.split_first() else { return Ok(Exit::Usage) };
    let mut command = Command::new(program);
    command.args(arguments);
    let mut recorder = Recorder::new(recording::mechanism(args.how.mechanism), Some(&command))?;
    recorder.check(&command)?;
    let file = TraceFile::at(recording::path(&args.how, program))?;
    recording::calibrate(&mut recorder)?;
    let (file, written) = file.begin()?;
    let trace = TraceWriter::new(file, &recorder.header(program, false))?;
    let child = for_the_command()?;
    let begun = |process: u32| child.store(process.cast_signed(), Ordering::SeqCst);
    let outcome = recorder.record(&mut command, trace, begun)?;
    child.store(0, Ordering::SeqCst);
    let told = RecordedRun { recorder: &recorder, outcome: &outcome, trace: &written };
    output::aside(|width| told.text(width));
    Ok(outcome.summary.status.map_or(Exit::CouldNot, ended_as))
}

/// Signals are for the command. Those of the terminal reach it without us; the others are
/// passed on. The number is that of its process, once there is one.
fn for_the_command() -> anyhow::Result<Arc<AtomicI32>> {
    let child = Arc::new(AtomicI32::new(0));
    signals::survive([SIGINT, SIGQUIT])
        .and_then(|()| signals::pass_on([SIGTERM, SIGHUP], &child))
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
