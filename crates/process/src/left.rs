//! What could not be ended, for whoever may speak to say.

use std::sync::{Mutex, PoisonError};

static LEFT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Processes that were started here and could not be ended, since this was last asked:
/// each in a sentence, with the reason and what to do. In this process as a whole, for
/// most are found where nobody is left to return them to.
pub fn take_left_behind() -> Vec<String> {
    std::mem::take(&mut LEFT.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Adds one, as another process of this run may have reported it.
pub fn leave_behind(process: String) {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(process);
}
