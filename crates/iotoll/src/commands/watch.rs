//! `iotoll watch`: a running process and its descendants, recorded for a time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use model::plan::parse_budget;
use record::{Elsewhere, Recorder};
use trace::{Header, Mechanism, TraceWriter};

use crate::cli::{MECHANISMS_OF_RUNNING, TraceArgs, one_of};
use crate::exit::Exit;
use crate::recording::limits::Limits;
use crate::recording::{self, RecordedRun};
use crate::signals;
use crate::terminal::output;

const WATCH_EXAMPLES: &str = "\
Examples:
  iotoll watch $(pgrep -o nginx) --for 30s
  iotoll watch 4711 --mechanism ptrace -o server.trace";

const WATCH_NOTES: &str = "\
Exit codes:
  0    it was recorded
  1    it could not be recorded
  2    invalid usage or input";

/// Record the file calls of a running process
#[derive(Args)]
#[command(after_help = WATCH_EXAMPLES)]
#[command(after_long_help = format!("{WATCH_EXAMPLES}\n\n{WATCH_NOTES}"))]
pub(crate) struct WatchArgs {
    /// Record this process and all that descend from it
    ///
    /// Children that run already are recorded as well.
    #[arg(value_name = "PID")]
    process: u32,

    /// Stop after this time, as in 30s or 5min
    ///
    /// [default: at Ctrl-C, or when the process ends]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_budget)]
    time: Option<Duration>,

    #[command(flatten)]
    trace: TraceArgs,

    /// See the calls by ebpf or ptrace
    ///
    /// ebpf: some 0.4 µs for each call; needs root, or `CAP_BPF` and `CAP_PERFMON`. ptrace: needs
    /// no rights, but stops the process at each call, for 10 to 100 µs. [default: ebpf]
    #[arg(long, value_parser = one_of(&MECHANISMS_OF_RUNNING), default_value = "ebpf")]
    #[arg(value_name = "HOW", hide_default_value = true, hide_possible_values = true)]
    mechanism: Mechanism,
}

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Exit> {
    let stop = signals::stop_flag()?;
    let mut recorder = match Recorder::new(Some(args.mechanism), None) {
        Err(error @ record::Error::Unavailable { .. }) => {
            bail!("{error}; or give --mechanism ptrace, which slows the process at each call")
        }
        recorder => recorder?,
    };
    let program = recorder.check_process(args.process)?;
    let file = recording::file(&args.trace, &program)?;
    let calibrated = recording::calibrate(&mut recorder)?;
    let (file, written) = file.begin()?;
    let trace = TraceWriter::new(
        file,
        &Header { operations: args.trace.ops, ..recorder.header(&program, true) },
    )?;
    let elsewhere = Elsewhere::of(args.process);
    let began = Instant::now();
    let is_over =
        || stop.load(Ordering::SeqCst) || args.time.is_some_and(|time| began.elapsed() >= time);
    let outcome = recorder.watch(args.process, trace, is_over)?;
    let limits = Limits { limits: &[], operations: None };
    let told = RecordedRun {
        recorder: &recorder,
        outcome: &outcome,
        trace: &written,
        limits,
        elsewhere: elsewhere.as_ref(),
    };
    output::result(&told.text(told.bill().as_ref(), output::width()))?;
    calibrated.renew(&mut recorder);
    Ok(if outcome.cut.is_some() { Exit::CouldNot } else { Exit::Done })
}
