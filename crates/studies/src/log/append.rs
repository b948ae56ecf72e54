//! What a strategy of appending must do.

use std::ffi::CString;

use engine::slice_timer::SliceTimer;
use engine::study::StudyError;

use crate::file::name;

pub(crate) const APPENDING: &str = "appending to the log";
pub(crate) const OPENING: &str = "opening the log";
pub(crate) const SYNCING: &str = "forcing the log to the device";

/// What became of a record that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It and all before it are acknowledged.
    Acknowledged,
    /// It will be, with a later one.
    Pending,
    /// It was refused: the writer knows that it will not be in the log.
    Dropped,
}

/// A strategy of appending records to a log.
pub(crate) trait Append {
    /// Appends the writer's record of that number.
    fn append(&mut self, index: usize, timer: &mut SliceTimer) -> Result<Taken, StudyError>;

    /// Forces what was appended to the device.
    fn sync(&mut self) -> Result<(), StudyError>;

    /// Writes what is still held back, as an application does before it ends.
    fn finish(&mut self, timer: &mut SliceTimer) -> Result<(), StudyError> {
        let _ = timer;
        Ok(())
    }

    /// Leaves beside the log what is needed afterwards, outside the clock.
    fn leave(&mut self) -> Result<(), StudyError> {
        Ok(())
    }

    /// System calls that a record takes, syncs aside, where that is a fixed number.
    fn calls_per_record(&self) -> f64 {
        1.0
    }

    /// System calls made so far, where it is not.
    fn calls(&self) -> Option<u64> {
        None
    }
}

/// The log's name, as system calls want it.
pub(crate) fn log_name(stem: &str) -> CString {
    name(&format!("{stem}.log"))
}
