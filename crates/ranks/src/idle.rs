//! Waiting for a message without keeping a processor from those who work.
//!
//! MPI's own waits spin. On a machine whose processors all have work, that slows what is
//! timed, so a rank looks and sleeps instead: the less often, the longer nothing came.

use std::time::{Duration, Instant};

/// Who was just spoken to will be spoken to again soon: it only gives way to others.
const ALERT: Duration = Duration::from_micros(300);
/// After that it sleeps shortly, for the messages before a slice come quickly.
const SOON: Duration = Duration::from_millis(20);
const SHORT: Duration = Duration::from_micros(50);
/// Long enough to cost nothing, and short beside a slice.
const LONG: Duration = Duration::from_millis(1);

/// How long nothing has come.
pub(crate) struct Idle(Instant);

impl Idle {
    /// Since now.
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    /// How long to wait before looking again.
    pub(crate) fn pause(&self) -> Duration {
        match self.0.elapsed() {
            since if since < ALERT => Duration::ZERO,
            since if since < SOON => SHORT,
            _ => LONG,
        }
    }

    /// Waits that long.
    pub(crate) fn wait(&self) {
        match self.pause() {
            Duration::ZERO => std::thread::yield_now(),
            pause => std::thread::sleep(pause),
        }
    }
}
