//! Reads the recording that is replayed.

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};

use super::plan::recording::Recording;
use crate::user_data::inherited::{self, Kept};

/// A trace up to a time, and what keeps its file open.
///
/// # Errors
/// In words, where it cannot be read or replayed.
pub(super) fn recording(path: &Path, until: Duration) -> Result<(Recording, Kept), String> {
    let shown = path.display().to_string();
    let name = format!("trace {shown}");
    let given = inherited::given_file(&name);
    let opened = given.unwrap_or_else(|| File::open(path).and_then(again_and_again));
    let file = opened.map_err(|e| {
        format!("{shown} cannot be read: {e}; give replay.trace the file that iotoll record wrote")
    })?;
    let again = file.try_clone().map_err(|e| format!("{shown} cannot be kept open: {e}"))?;
    let read = process::in_confined_thread(|| Recording::of_trace(file, &shown, until));
    let recording = read.map_err(|e| format!("{shown} cannot be read: {e}"))??;
    Ok((recording, inherited::keep_file(&name, again)))
}

/// A file that can be read from its beginning: of a pipe, what came of it.
fn again_and_again(mut file: File) -> io::Result<File> {
    if file.rewind().is_ok() {
        return Ok(file);
    }
    let mut copy = File::from(memfd_create("iotoll-trace", MemfdFlags::CLOEXEC)?);
    io::copy(&mut file, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}
