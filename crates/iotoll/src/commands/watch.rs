//! `iotoll watch`: a running process and its descendants, recorded for a time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use model::plan::parse_budget;
use record::Recorder;
use trace::TraceWriter;

use crate::cli::RecorderArgs;
use crate::exit::Exit;
use crate::recording::{self, RecordedRun, TraceFile};
use crate::signals;
use crate::terminal::output;

const WATCH_NOTES: &str = "\
Examples:
  iotoll watch $(pidof -s nginx) --for 30s
  iotoll watch 4711 -o server.trace

Exit codes:
  0    it was recorded
  1    it could not be recorded
  2    invalid usage or input";

/// Record the file calls of a running process
#[derive(Args)]
#[command(after_help = WATCH_NOTES)]
pub(crate) struct WatchArgs {
    /// The process, with all that descend from it
    #[arg(value_name = "PID")]
    process: u32,

    /// How long, as in 30s or 5min [default: until Ctrl-C, or until it ends]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_budget)]
    time: Option<Duration>,

    #[command(flatten)]
    how: RecorderArgs,
}

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Exit> {
    let stop = signals::stop_flag()?;
    let mut recorder = Recorder::new(recording::mechanism(args.how.mechanism), None)?;
    let program = recorder.check_process(args.process)?;
    let file = TraceFile::at(recording::path(&args.how, &program))?;
    recording::calibrate(&mut recorder)?;
    let (file, written) = file.begin()?;
    let trace = TraceWriter::new(file, &recorder.header(&program, true))?;
    let began = Instant::now();
    let is_over =
        || stop.load(Ordering::SeqCst) || args.time.is_some_and(|time| began.elapsed() >= time);
    let outcome = recorder.watch(args.process, trace, is_over)?;
    let told = RecordedRun { recorder: &recorder, outcome: &outcome, trace: &written };
    output::result(&told.text(output::width()))?;
    Ok(if outcome.cut.is_some() { Exit::CouldNot } else { Exit::Done })
}
