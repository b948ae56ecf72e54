//! The one request for which a live system's log is switched on, while the others
//! come and go.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use engine::study::StudyError;
use process::StopFlag;

use super::fetch::fetch;
use super::outcome::refused;
use super::running::PATIENCE;

/// Between two looks at whether it is time.
const LOOK: Duration = Duration::from_millis(10);

/// A request that is sent after a while, or as soon as the others have ended.
pub(super) struct Switched {
    others_ended: Arc<AtomicBool>,
    sent: io::Result<JoinHandle<Result<Duration, StudyError>>>,
}

impl Switched {
    /// It goes to a port, for a path.
    pub(super) fn send((port, path): (u16, String), after: Duration, stop: &StopFlag) -> Self {
        let (stop, others_ended) = (StopFlag::clone(stop), Arc::new(AtomicBool::new(false)));
        let ended = Arc::clone(&others_ended);
        let sent = thread::Builder::new().spawn(move || {
            let began = Instant::now();
            while began.elapsed() < after && !ended.load(Ordering::Relaxed) {
                if stop.load(Ordering::Relaxed) {
                    return Err(StudyError::Stopped);
                }
                thread::sleep(LOOK.min(after));
            }
            let sent = Instant::now();
            let reply = fetch(port, &path, PATIENCE, &stop);
            let took = sent.elapsed();
            match reply {
                Ok(reply) if reply.status == 200 => Ok(took),
                Ok(reply) => Err(failed(&format!("status {}: {}", reply.status, reply.body))),
                Err(_) if stop.load(Ordering::Relaxed) => Err(StudyError::Stopped),
                Err(error) => Err(failed(&error.to_string())),
            }
        });
        Self { others_ended, sent }
    }

    /// How long it took, in nanoseconds, once the others have ended.
    pub(super) fn took(self) -> Result<f64, StudyError> {
        self.others_ended.store(true, Ordering::Relaxed);
        let sent = self.sent.map_err(|error| failed(&error.to_string()))?;
        let took = sent.join().unwrap_or_else(|_| Err(failed("its thread panicked")))?;
        Ok(took.as_nanos() as f64)
    }
}

fn failed(why: &str) -> StudyError {
    refused(format!("the request that switches the log on failed: {why}"))
}
