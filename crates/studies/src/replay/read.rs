//! Reads the recording that is replayed.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::plan::recording::Recording;

/// A trace up to a time.
///
/// # Errors
/// In words, where it cannot be read or replayed.
pub(super) fn recording(path: &Path, until: Duration) -> Result<Recording, String> {
    let shown = path.display().to_string();
    let file = File::open(path).map_err(|e| {
        format!("{shown} cannot be read: {e}; give replay.trace the file that iotoll record wrote")
    })?;
    let read = process::in_confined_thread(|| Recording::of_trace(file, &shown, until));
    read.map_err(|e| format!("{shown} cannot be read: {e}"))?
}
