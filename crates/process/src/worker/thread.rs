//! Workers as threads of this process.

use std::io::{self, BufReader, PipeReader, PipeWriter};
use std::thread::{self, JoinHandle};

use model::spent::{Calls, Spent};

use super::serve::{Work, serve};
use crate::StopFlag;

/// A worker thread. Dropping it waits for its end, which comes once the pipes to it
/// are closed: with them it neither waits for a message nor for its own to be read.
pub(super) struct WorkerThread(Option<JoinHandle<()>>);

impl WorkerThread {
    /// Starts a thread that works at the other ends of these pipes.
    pub(super) fn start(
        work: Work,
        reader: PipeReader,
        writer: PipeWriter,
        stop: &StopFlag,
    ) -> io::Result<Self> {
        let stop = StopFlag::clone(stop);
        let handle = thread::Builder::new().name("worker".to_owned()).spawn(move || {
            // Whoever is at the other end sees the pipe close, and says so.
            let _ = serve(BufReader::new(reader), writer, &stop, work);
        })?;
        Ok(Self(Some(handle)))
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        // A panic in it shows as a closed pipe.
        let _ = self.0.take().map(JoinHandle::join);
    }
}

/// What a thread spent, without what its process counts as its own: processor time,
/// faults and calls are the same figures for all threads of a process, and would count
/// once for each of them, on top of what the process reads of itself.
pub(super) fn without_what_the_process_counts(spent: Spent) -> Spent {
    Spent {
        user_ns: 0,
        system_ns: 0,
        minor_faults: 0,
        major_faults: 0,
        voluntary_switches: 0,
        involuntary_switches: 0,
        calls: Some(Calls::default()),
        ..spent
    }
}
