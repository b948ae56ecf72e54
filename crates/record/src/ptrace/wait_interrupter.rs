//! Ends a wait for threads when it is time to stop, and each second.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Pid;
use rustix::thread::gettid;
use sys::signals::{interrupt_waits, send_to_thread};

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
    thread: Pid,
    silent: AtomicBool,
}

impl<'a, F: Fn() -> bool> WaitInterrupter<'a, F> {
    /// For the calling thread.
    pub(super) fn ring_when(time: &'a F) -> io::Result<Self> {
        interrupt_waits(SIGNAL)?;
        Ok(Self { time, thread: gettid(), silent: AtomicBool::new(false) })
    }

    /// Looks until it is silenced.
    pub(super) fn watch(&self) {
        let mut looks: u32 = 0;
        while !self.silent.load(Ordering::Relaxed) {
            looks = looks.wrapping_add(1);
            if (self.time)() || looks.is_multiple_of(RING_EVERY) {
                send_to_thread(self.thread, SIGNAL);
            }
            sleep(LOOK);
        }
    }

    pub(super) fn silence(&self) {
        self.silent.store(true, Ordering::Relaxed);
    }
}
