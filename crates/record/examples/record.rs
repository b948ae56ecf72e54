//! Records a command, and says how many of its calls were recorded: `record OUT.trace COMMAND...`.

#![allow(clippy::print_stdout)]

use std::env;
use std::error::Error;
use std::fs::File;
use std::process::Command;

use iotoll_record::trace::TraceWriter;
use iotoll_record::{Calibration, Recorder, time_calls};

/// With this word the program makes the calls that the recorder is calibrated by.
const TIME_CALLS: &str = "--time-calls";

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args_os().skip(1);
    let first = words.next().ok_or("usage: record OUT.trace COMMAND...")?;
    let program = words.next().ok_or("usage: record OUT.trace COMMAND...")?;
    if first == TIME_CALLS {
        print!("{}", time_calls(program.to_string_lossy().parse()?)?);
        return Ok(());
    }
    let mut command = Command::new(&program);
    command.args(words);
    let mut recorder = Recorder::new(None, Some(&command))?;
    let this = env::current_exe()?;
    let timing = |calls: u32| {
        let mut timing = Command::new(&this);
        timing.args([TIME_CALLS, &calls.to_string()]);
        timing
    };
    recorder.calibrate(timing, &mut Calibration::default())?;
    let trace = TraceWriter::new(File::create(first)?, &recorder.header(&program, false))?;
    let outcome = recorder.record(&mut command, trace, |_| {})?;
    println!("{} calls by {:?}", outcome.calls, recorder.mechanism());
    Ok(())
}
