//! What `iotoll record` and `iotoll watch` have in common.

pub(crate) mod billed;
mod calibrated;
pub(crate) mod limits;
pub(crate) mod trace_file;

pub(crate) use self::calibrated::{TIME_CALLS, calibrate};
pub(crate) use self::trace_file::TraceFile;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use record::{Elsewhere, PassedOver, Recorded, Recorder};
use report::paragraph;
use trace::Bill;
use units::{count, counted, rough_size};

use self::limits::Limits;
use self::trace_file::BegunTrace;
use crate::cli::TraceArgs;
use crate::exit::sentence;

/// Where the trace goes.
pub(crate) fn file(how: &TraceArgs, program: &OsStr) -> anyhow::Result<TraceFile> {
    if let Some(path) = &how.output {
        let path = if how.is_to_stdout() { Path::new("/dev/stdout") } else { path };
        return TraceFile::at(path.to_owned());
    }
    let mut name = Path::new(program).file_name().unwrap_or(OsStr::new("iotoll")).to_owned();
    name.push(".trace");
    TraceFile::at_or_beside(PathBuf::from(name))
}

/// What is told of a recording.
pub(crate) struct RecordedRun<'a> {
    pub(crate) recorder: &'a Recorder,
    pub(crate) outcome: &'a Recorded,
    pub(crate) trace: &'a BegunTrace,
    pub(crate) limits: Limits<'a>,
    /// The mounts of what was watched, where they are others.
    pub(crate) elsewhere: Option<&'a Elsewhere>,
}

impl RecordedRun<'_> {
    /// The bill, where the trace can be read again.
    pub(crate) fn bill(&self) -> Option<anyhow::Result<Bill>> {
        let read = self.trace.read();
        read.map(|trace| {
            let mut bill = billed::bill_in(trace.context("reading the trace")?)?;
            if let Some(elsewhere) = self.elsewhere {
                bill.rename(|path| elsewhere.path(path));
                billed::name_folders(&mut bill);
                bill.container = Some(elsewhere.container());
            }
            Ok(bill)
        })
    }

    /// The bill with its limits, and what it does not say.
    pub(crate) fn text(&self, bill: Option<&anyhow::Result<Bill>>, width: usize) -> String {
        let (mut text, mut said) = (String::new(), Vec::new());
        match bill {
            Some(Ok(bill)) => {
                text = report::bill(bill, false, width) + "\n";
                let limits = report::limits(&self.limits.judge(bill), width);
                if !limits.is_empty() {
                    text += &(limits + "\n");
                }
            }
            Some(Err(error)) => said.push(format!("There is no bill: {}.", sentence(error))),
            None => said.push(self.in_short()),
        }
        said.extend(self.beside());
        text.extend(said.iter().map(|sentence| paragraph("", "", sentence, width)));
        text
    }

    /// In place of a bill, for which the trace would have to be read again.
    fn in_short(&self) -> String {
        let Recorded { calls, lost, .. } = self.outcome;
        let [calls, lost] = [*calls, *lost].map(|number| counted(number, "call"));
        format!(
            "Recorded {calls}; {lost} lost. A trace in a pipe has no bill here: `iotoll show -` makes \
             it."
        )
    }

    fn beside(&self) -> Vec<String> {
        let Self { recorder, outcome, trace, .. } = self;
        let size = rough_size(outcome.written_bytes);
        let mut said = vec![format!("The trace is in {} ({size}).", trace.path().display())];
        if let Some(error) = &outcome.cut {
            said.push(format!(
                "The recording ended before the program did: {error}. What was recorded until \
                 then can be read."
            ));
        }
        said.extend(recorder.passed_over().iter().map(|PassedOver { mechanism, why }| {
            format!("Recording by {mechanism} would have cost less, but {why}.")
        }));
        let by = recorder.calibrated_by();
        said.push(format!("The overhead of recording was measured with {by}."));
        // Of what was watched, nothing need have ended.
        if outcome.summary.status.is_some() && outcome.left_running > 0 {
            said.push(format!(
                "Still running when the command ended, and not recorded from then on: {} of the \
                 processes that it started.",
                count(outcome.left_running as u64)
            ));
        }
        said
    }
}
