//! How a run is told to end.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Set by a signal handler, or anyone, when the run should end.
pub type StopFlag = Arc<AtomicBool>;
