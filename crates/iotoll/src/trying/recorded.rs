//! The recorded run of a trial.

use std::fs::{self, File};
use std::io::Seek as _;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use record::{PassedOver, Recorder};
use trace::{Bill, TraceReader, TraceWriter};
use trial::{Recorded, Trial};

use super::grounds::Grounds;
use crate::commands::TryArgs;
use crate::recording::{self, billed};
use crate::terminal::output;

/// What came of it.
pub(crate) struct RecordedRun {
    pub(crate) bill: Bill,
    pub(crate) found: Recorded,
    /// Why the recording costs more than it could.
    pub(crate) passed_over: Vec<String>,
}

impl RecordedRun {
    /// Runs the command as now, and records it. The first run took so long.
    pub(crate) fn of(
        args: &TryArgs,
        trial: &Trial,
        grounds: &Grounds,
        took: Duration,
    ) -> anyhow::Result<Self> {
        output::note(&format!("recording it, some {}", units::time(took.as_nanos() as f64)));
        let mut recorder = Recorder::new(args.mechanism.0, Some(&trial.command()))?;
        recorder.check(&trial.command())?;
        recording::calibrate(&mut recorder)?;
        let file = |name: &str| {
            let path = grounds.work().path().join(name);
            let opened = File::options().read(true).write(true).create_new(true).open(&path);
            opened.with_context(|| format!("making {}", path.display()))
        };
        let (printed, mut traced) = (file("output")?, file("trace")?);
        let (view, mut command) = trial.to_be_recorded(&printed)?;
        command.stderr(Stdio::null());
        let header = recorder.header(command.get_program(), false);
        let writer = TraceWriter::new(traced.try_clone()?, &header)?;
        let outcome = recorder.record(&mut command, writer, |_| {})?;
        drop(view);
        if let Some(error) = outcome.cut {
            bail!("the recording ended before the command did: {error}");
        }
        let status = as_shell(outcome.summary.status.unwrap_or_default());
        let output = fs::read(grounds.work().path().join("output"))?;
        trial.recorded(status, output)?.map_err(super::cannot_run_again)?;
        traced.rewind()?;
        let bill = billed::bill_in(traced.try_clone()?)?;
        traced.rewind()?;
        let mut reader = TraceReader::new(traced)?;
        let found = Recorded::read(&mut reader, &bill).map_err(|error| anyhow!(error))?;
        let passed_over = recorder.passed_over().iter();
        let passed_over = passed_over.map(|PassedOver { mechanism, why }| {
            format!("Recording by {mechanism} would have cost less, but {why}.")
        });
        Ok(Self { bill, found, passed_over: passed_over.collect() })
    }
}

/// An exit status of wait(2) as a shell has it.
fn as_shell(status: i32) -> i32 {
    const BY_SIGNAL: i32 = 128;
    let signal = status & 0x7f;
    if signal == 0 { status >> 8 & 0xff } else { BY_SIGNAL + signal }
}
