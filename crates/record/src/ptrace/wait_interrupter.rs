//! Ends a wait for threads when it is time to stop, and each second.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// Nobody else sends it here, and it is ignored where it is not caught.
const SIGNAL: libc::c_int = libc::SIGURG;
/// How often it is looked whether it is time.
const LOOK: Duration = Duration::from_millis(50);
/// After so many looks it rings in any case.
const RING_EVERY: u32 = 20;

/// Interrupts the waiting thread each second, and again and again from when it is time to stop
/// on: the thread may not wait yet when it is interrupted.
pub(super) struct WaitInterrupter<'a, F: Fn() -> bool> {
    time: &'a F,
    thread: libc::pthread_t,
    silent: AtomicBool,
}

impl<'a, F: Fn() -> bool> WaitInterrupter<'a, F> {
    /// For the calling thread.
    pub(super) fn ring_when(time: &'a F) -> io::Result<Self> {
        extern "C" fn nothing(_: libc::c_int) {}
        // SAFETY: the structure is valid when zeroed; the handler does nothing, and without
        // `SA_RESTART` it ends a wait, which is what it is for.
        let set = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigaction(SIGNAL, &raw const action, std::ptr::null_mut())
        };
        if set != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it returns the caller's own handle.
        let thread = unsafe { libc::pthread_self() };
        Ok(Self { time, thread, silent: AtomicBool::new(false) })
    }

    /// Looks until it is silenced.
    pub(super) fn watch(&self) {
        let mut looks: u32 = 0;
        while !self.silent.load(Ordering::Relaxed) {
            looks = looks.wrapping_add(1);
            if (self.time)() || looks.is_multiple_of(RING_EVERY) {
                // SAFETY: the thread silences this and waits for it before it ends.
                unsafe { libc::pthread_kill(self.thread, SIGNAL) };
            }
            sleep(LOOK);
        }
    }

    pub(super) fn silence(&self) {
        self.silent.store(true, Ordering::Relaxed);
    }
}
