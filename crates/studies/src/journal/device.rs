//! A modelled device: what writes and syncs would take on it, waited for beside what they take
//! where the files really are.
//!
//! It is told as volumes in a cloud are sold: so many bytes and so many writes a second, of
//! which the one that is the shorter decides, and so long a sync. The wait ends within a
//! microsecond of its time, for its last part is spent looking at the clock; processor time in
//! writes and syncs says nothing of a modelled device.

use std::cell::Cell;
use std::thread;
use std::time::Duration;

use host::clock::{Clock, SECOND_NS};

/// Longer writes count as several.
const WRITE_BYTES_MAX: u64 = 256 << 10;
/// Sleeping takes up to so much longer than it was told to.
const LATE_MAX: Duration = Duration::from_micros(150);

/// What a device is like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Model {
    bytes_per_s: f64,
    writes_per_s: f64,
    sync_ns: u64,
}

impl Model {
    /// None where nothing is asked for; 0 is no limit.
    pub(super) fn new(mb_per_s: u64, writes_per_s: u64, sync: Duration) -> Option<Self> {
        let limit = |per_s: u64| if per_s == 0 { f64::INFINITY } else { per_s as f64 };
        let sync_ns = sync.as_nanos() as u64;
        (mb_per_s + writes_per_s + sync_ns > 0).then(|| Self {
            bytes_per_s: limit(mb_per_s) * 1e6,
            writes_per_s: limit(writes_per_s),
            sync_ns,
        })
    }

    /// What the device takes for so many bytes in so many writes.
    fn written_ns(self, bytes: u64, writes: u64) -> u64 {
        let seconds = (bytes as f64 / self.bytes_per_s).max(writes as f64 / self.writes_per_s);
        (seconds * SECOND_NS as f64) as u64
    }
}

/// A device under way: what was given to it, and what it has to be waited for.
pub(super) struct Device {
    model: Model,
    clock: Clock,
    is_on: Cell<bool>,
    /// What the page cache has for it, until a sync.
    bytes: Cell<u64>,
    writes: Cell<u64>,
    waited_ns: Cell<u64>,
}

impl Device {
    /// One that takes no time until it is turned on.
    pub(super) fn new(model: Model, clock: Clock) -> Self {
        let zero = || Cell::new(0);
        let is_on = Cell::new(false);
        Self { model, clock, is_on, bytes: zero(), writes: zero(), waited_ns: zero() }
    }

    /// From now on it takes its time, or none any more.
    pub(super) fn turn(&self, on: bool) {
        self.is_on.set(on);
        self.bytes.take();
        self.writes.take();
    }

    /// What it was waited for so far.
    pub(super) fn waited_ns(&self) -> u64 {
        self.waited_ns.get()
    }

    /// Something was written to the page cache.
    pub(super) fn take(&self, bytes: u64) {
        self.bytes.set(self.bytes.get() + bytes);
        self.writes.set(self.writes.get() + bytes.div_ceil(WRITE_BYTES_MAX));
    }

    /// Waits until it has everything for good.
    pub(super) fn sync(&self) {
        let written_ns = self.model.written_ns(self.bytes.take(), self.writes.take());
        if self.is_on.get() {
            self.wait(written_ns + self.model.sync_ns);
        }
    }

    fn wait(&self, ns: u64) {
        let began = self.clock.ticks();
        let wanted = Duration::from_nanos(ns);
        let passed = || self.clock.between(began, self.clock.ticks());
        if let Some(asleep) = wanted.checked_sub(LATE_MAX) {
            thread::sleep(asleep);
        }
        while passed() < wanted {
            std::hint::spin_loop();
        }
        self.waited_ns.set(self.waited_ns.get() + passed().as_nanos() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_is_reached_first_decides() {
        let model = |mb, writes| Model::new(mb, writes, Duration::ZERO);
        assert_eq!(model(0, 0), None);
        let ns = |mb, writes| model(mb, writes).map(|model| model.written_ns(1_000_000, 4));
        assert_eq!(ns(100, 0), Some(10_000_000));
        assert_eq!(ns(0, 100), Some(40_000_000));
        assert_eq!(ns(100, 1000), Some(10_000_000));
        assert_eq!(ns(100, 100), Some(40_000_000));
    }

    #[test]
    fn a_sync_takes_what_was_written_before_it_and_no_less_than_it_should() {
        let model = Model::new(1000, 0, Duration::from_millis(1));
        let device = Device::new(model.unwrap_or_else(|| unreachable!()), Clock::new());
        device.take(50_000_000);
        device.sync();
        assert_eq!(device.waited_ns(), 0, "it is not on");
        device.turn(true);
        device.take(1_500_000);
        device.take(500_000);
        device.sync();
        let first = device.waited_ns();
        assert!(first >= 3_000_000, "{first}");
        assert_eq!((device.bytes.get(), device.writes.get()), (0, 0));
        device.sync();
        let second = device.waited_ns() - first;
        assert!(second >= 1_000_000, "{second}");
    }
}
