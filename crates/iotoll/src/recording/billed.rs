//! Traces in files, and what they come to.

use std::env;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

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
    let mut file = File::open(path).ok()?;
    let is_trace = is_trace_in(&mut file).ok()?;
    file.rewind().ok()?;
    is_trace.then_some(file)
}

/// Whether a file begins as traces do.
pub(crate) fn is_trace_in(file: &mut File) -> io::Result<bool> {
    let mut beginning = Vec::new();
    file.take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
    Ok(is_trace(&beginning))
}

/// The folder that iotoll was started in. A process that reads a stranger's file may not ask for it any
/// more.
static HERE: LazyLock<Option<PathBuf>> = LazyLock::new(|| env::current_dir().ok());

/// Asks for it while that is possible.
pub(crate) fn remember_here() {
    LazyLock::force(&HERE);
}

/// The bill of a trace. Its commands are to be run from here, wherever the program ran.
pub(crate) fn bill_in(trace: File) -> anyhow::Result<Bill> {
    let mut reader = TraceReader::new(trace)?;
    let mut bill = bill_of(&mut reader, report::command_of).context("reading the trace")?;
    if bill.working_folder.as_deref().map(Path::new) != HERE.as_deref() {
        name_folders(&mut bill);
    }
    Ok(bill)
}

/// Has all commands name their folders from the root.
pub(crate) fn name_folders(bill: &mut Bill) {
    for pattern in bill.patterns.iter_mut().filter(|pattern| !pattern.command.is_empty()) {
        pattern.command = report::command_of(&pattern.what, None);
    }
}
