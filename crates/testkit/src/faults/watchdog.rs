//! Ends what does not end by itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// What still lives so long after the program has ended was left behind.
const LEFT_BEHIND_AFTER: Duration = Duration::from_secs(3);
/// How often processes that must end are told so.
const TELL_EVERY: Duration = Duration::from_millis(50);

/// Who took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    Program,
    Others,
}

/// Ends what does not end by itself: the tracer's own thread waits for the kernel.
pub(super) struct Watchdog {
    shared: Arc<Shared>,
    thread: std::thread::JoinHandle<()>,
}

struct Shared {
    state: Mutex<Watched>,
    closed: AtomicBool,
}

struct Watched {
    threads: Vec<Pid>,
    until: Instant,
    program_ended: bool,
    late: Option<Late>,
}

impl Watchdog {
    pub(super) fn over(within: Duration) -> Self {
        let state = Watched {
            threads: Vec::new(),
            until: Instant::now() + within,
            program_ended: false,
            late: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), closed: AtomicBool::new(false) });
        let watched = Arc::clone(&shared);
        let thread = std::thread::spawn(move || watch(&watched));
        Self { shared, thread }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Watched) -> T) -> T {
        change(&mut self.shared.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn know(&self, thread: Pid) {
        self.with(|watched| watched.threads.push(thread));
    }

    pub(super) fn forget(&self, thread: Pid) {
        self.with(|watched| watched.threads.retain(|known| *known != thread));
    }

    pub(super) fn program_ended(&self) {
        self.with(|watched| {
            watched.program_ended = true;
            watched.until = Instant::now() + LEFT_BEHIND_AFTER;
        });
    }

    pub(super) fn late(&self) -> Option<Late> {
        self.with(|watched| watched.late)
    }

    /// Ends the watch; who was late.
    pub(super) fn close(self) -> Option<Late> {
        self.shared.closed.store(true, Ordering::Relaxed);
        let late = self.late();
        self.thread.thread().unpark();
        // It does nothing that could fail.
        let _ = self.thread.join();
        late
    }
}

fn watch(shared: &Shared) {
    while !shared.closed.load(Ordering::Relaxed) {
        std::thread::park_timeout(TELL_EVERY);
        let mut watched = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if Instant::now() < watched.until {
            continue;
        }
        let late = if watched.program_ended { Late::Others } else { Late::Program };
        watched.late.get_or_insert(late);
        for thread in &watched.threads {
            // One that is gone by now needs no telling.
            let _ = kill(*thread, Signal::SIGKILL);
        }
    }
}
