//! `iotoll watch`: a running process and its descendants, recorded for a time.

use std::sync::atomic::Ordering;
use std::time::Instant;

use record::Recorder;
use trace::TraceWriter;

use crate::cli::WatchArgs;
use crate::exit::Exit;
use crate::recording::{self, RecordedRun};
use crate::trace_file::TraceFile;
use crate::{output, signals};

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
