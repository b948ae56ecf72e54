//! Ending a run in order: because someone asks for it, or because what must stay free at
//! its places no longer does.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context as _;
use model::place::PlaceFacts;
use places::Margins;
use process::StopFlag;

/// Who watches looks so often. Four looks a second cost less than a thousandth of one
/// processor, and in a quarter of a second even a fast disk is not filled beyond the
/// margin.
const APART: Duration = Duration::from_millis(250);

/// A run's end, and why it came.
#[derive(Clone, Debug)]
pub(crate) struct StopReason {
    /// Raised to end the run.
    pub(crate) stop: StopFlag,
    why: Arc<OnceLock<String>>,
}

impl StopReason {
    /// By a flag that signals raise.
    pub(crate) fn new(stop: StopFlag) -> Self {
        Self { stop, why: Arc::default() }
    }

    /// Why the run was ended, unless a signal did or it was not.
    pub(crate) fn why(&self) -> Option<String> {
        self.why.get().cloned()
    }

    fn raise(&self, why: String) {
        // The first reason is the one.
        let _ = self.why.set(why);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Watches what must stay free, until it is dropped, and ends the run where it does not:
/// between slices and within them, also while a server of the user's runs.
#[derive(Debug)]
pub(crate) struct FreeSpaceWatchdog {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FreeSpaceWatchdog {
    /// For places, each with a directory in it that is open.
    pub(crate) fn start<'a>(
        places: impl IntoIterator<Item = (&'a PlaceFacts, BorrowedFd<'a>)>,
        stop_reason: StopReason,
    ) -> anyhow::Result<Self> {
        let margins = Margins::new(places).context("watching the places' free space")?;
        let (done, is_done) = mpsc::channel();
        let watch = move || {
            while is_done.recv_timeout(APART) == Err(RecvTimeoutError::Timeout) {
                if let Some(why) = margins.short() {
                    return stop_reason.raise(why);
                }
            }
        };
        let thread = thread::Builder::new().name("lookout".to_owned()).spawn(watch);
        let thread = thread.context("starting the thread that watches free space")?;
        Ok(Self { done: Some(done), thread: Some(thread) })
    }
}

impl Drop for FreeSpaceWatchdog {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // It has nothing to tell.
            let _ = thread.join();
        }
    }
}
