//! What the threads of a replay share: the folder, the open files, and the signals by which
//! one waits for another.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use host::clock::{Clock, SECOND_NS};
use process::StopFlag;
use rustix::fs::Timespec;
use rustix::thread::futex::{self, Flags};

use super::fill::Fills;
use super::plan::program::{Program, SignalNumber, Slot};

/// Who waits looks so often whether the run was interrupted.
const LOOKS: Timespec = Timespec { tv_sec: 0, tv_nsec: SECOND_NS as i64 / 20 };

/// Everything that a replay works on.
pub(super) struct SharedState {
    pub(super) program: Arc<Program>,
    pub(super) folder: OwnedFd,
    /// Whether the kernel is asked to see to it that no path leads out of the folder.
    pub(super) has_openat2: bool,
    slots: Vec<RwLock<Option<OwnedFd>>>,
    signals: Vec<Signal>,
    pub(super) fills: Fills,
    pub(super) clock: Clock,
    pub(super) stop: StopFlag,
    /// Set where a thread gives up, for none to wait for it.
    given_up: AtomicBool,
}

/// What one step does and others wait for.
#[derive(Default)]
struct Signal {
    /// When it was done, in ticks.
    at: AtomicU64,
    state: AtomicU32,
}

const OPEN: u32 = 0;
const AWAITED: u32 = 1;
const DONE: u32 = 2;

/// The run is to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped;

impl SharedState {
    pub(super) fn new(
        program: Arc<Program>,
        folder: OwnedFd,
        has_openat2: bool,
        fills: Fills,
        clock: Clock,
        stop: StopFlag,
    ) -> Self {
        Self {
            slots: (0..program.slots).map(|_| RwLock::new(None)).collect(),
            // One more for all to begin together.
            signals: (0..=program.signals).map(|_| Signal::default()).collect(),
            program,
            folder,
            has_openat2,
            fills,
            clock,
            stop,
            given_up: AtomicBool::new(false),
        }
    }

    /// The signal at which all threads begin.
    pub(super) fn gate(&self) -> SignalNumber {
        self.program.signals as SignalNumber
    }

    /// Does something with an open file; none where it is not open.
    #[inline]
    pub(super) fn with<T>(&self, slot: Slot, act: impl FnOnce(&OwnedFd) -> T) -> Option<T> {
        let held = self.slots.get(slot as usize)?.read().ok()?;
        held.as_ref().map(act)
    }

    /// Keeps an open file.
    #[inline]
    pub(super) fn put(&self, slot: Slot, file: OwnedFd) {
        if let Some(mut held) = self.slots.get(slot as usize).and_then(|slot| slot.write().ok()) {
            *held = Some(file);
        }
    }

    /// Takes an open file out, to be closed.
    #[inline]
    pub(super) fn take(&self, slot: Slot) -> Option<OwnedFd> {
        self.slots.get(slot as usize)?.write().ok()?.take()
    }

    /// Says that it is done.
    pub(super) fn signal(&self, number: SignalNumber, now: u64) {
        let Some(signal) = self.signals.get(number as usize) else { return };
        signal.at.store(now, Ordering::Relaxed);
        if signal.state.swap(DONE, Ordering::AcqRel) == AWAITED {
            // It fails for nobody that waits.
            let _ = futex::wake(&signal.state, Flags::PRIVATE, u32::MAX >> 1);
        }
    }

    /// Waits until it is done; when that was.
    pub(super) fn wait(&self, number: SignalNumber) -> Result<u64, Stopped> {
        let Some(signal) = self.signals.get(number as usize) else { return Ok(0) };
        while signal.state.load(Ordering::Acquire) != DONE {
            self.check()?;
            let order = (Ordering::AcqRel, Ordering::Acquire);
            let _ = signal.state.compare_exchange(OPEN, AWAITED, order.0, order.1);
            // Whatever ended the wait, the state tells.
            let _ = futex::wait(&signal.state, Flags::PRIVATE, AWAITED, Some(&LOOKS));
        }
        Ok(signal.at.load(Ordering::Relaxed))
    }

    /// Whether to go on.
    #[inline]
    pub(super) fn check(&self) -> Result<(), Stopped> {
        let ends = self.stop.load(Ordering::Relaxed) || self.given_up.load(Ordering::Relaxed);
        if ends { Err(Stopped) } else { Ok(()) }
    }

    /// Ends the replay of all threads.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}
