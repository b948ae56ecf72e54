//! Traces in files, and what they come to.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use trace::{Bill, TraceReader, bill_of, is_trace};

/// What is looked at to tell a trace from anything else.
const BEGINNING_BYTES: u64 = 16;

/// The trace in a file; none where it is anything else. Whatever cannot be opened is that, too:
/// whoever reads it next says why.
pub(crate) fn trace_in(path: &Path) -> Option<File> {
    // A pipe would be read in vain.
    if !path.is_file() {
        return None;
    }
    let beginning = File::open(path).and_then(|file| {
        let mut beginning = Vec::new();
        file.take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
        Ok(beginning)
    });
    beginning.is_ok_and(|bytes| is_trace(&bytes)).then(|| File::open(path).ok())?
}

/// The bill of a trace.
pub(crate) fn bill_in(trace: File) -> anyhow::Result<Bill> {
    let mut reader = TraceReader::new(trace)?;
    bill_of(&mut reader).context("reading the trace")
}
