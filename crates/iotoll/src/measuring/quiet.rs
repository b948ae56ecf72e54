//! Waiting until devices have nothing more to do for a slice that is over.

use std::thread;
use std::time::{Duration, Instant};

use host::disks::{DeviceCounters, DeviceReader};

/// Two looks are this far apart.
const APART: Duration = Duration::from_micros(200);
/// However busy a device is, nobody waits longer.
const PATIENCE_MAX: Duration = Duration::from_millis(50);

/// Waits for devices, and less each time where others keep them busy.
#[derive(Debug)]
pub(crate) struct Quiet {
    patience: Duration,
}

impl Quiet {
    /// One that has not waited in vain yet.
    pub(crate) fn new() -> Self {
        Self { patience: PATIENCE_MAX }
    }

    /// Returns once nothing is under way and no discard was done between two looks, or
    /// when that has taken too long.
    pub(crate) fn wait(&mut self, devices: &DeviceReader) {
        let began = Instant::now();
        let mut apart = Duration::ZERO;
        let mut look = || {
            thread::sleep(std::mem::replace(&mut apart, APART));
            devices.read().ok().map(|counters| (counters, began.elapsed()))
        };
        self.wait_by(&mut look);
    }

    /// Each look is the counters, and how long it has been; nothing where they cannot be
    /// read any more.
    fn wait_by(&mut self, look: &mut dyn FnMut() -> Option<(DeviceCounters, Duration)>) {
        let Some((mut before, _)) = look() else { return };
        while let Some((now, waited)) = look() {
            if before.in_flight.0 == 0 && now.in_flight.0 == 0 && before.discards == now.discards {
                self.patience = PATIENCE_MAX;
                return;
            }
            if waited >= self.patience {
                self.patience = (self.patience / 2).max(APART);
                return;
            }
            before = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use model::counters::Level;

    use super::*;

    /// Looks a millisecond apart, each with requests under way and discards done.
    fn looks_taken(quiet: &mut Quiet, looks: &[(u64, u64)]) -> u32 {
        let mut taken = 0;
        quiet.wait_by(&mut || {
            let &(in_flight, discards) = looks.get(taken as usize).unwrap_or(looks.last()?);
            taken += 1;
            let in_flight = Level(in_flight);
            let counters = DeviceCounters { in_flight, discards, ..DeviceCounters::default() };
            Some((counters, Duration::from_millis(1) * taken))
        });
        taken
    }

    #[test]
    fn requests_under_way_and_discards_are_waited_out() {
        let mut quiet = Quiet::new();
        assert_eq!(looks_taken(&mut quiet, &[(0, 5)]), 2);
        assert_eq!(looks_taken(&mut quiet, &[(1, 5), (2, 5), (0, 5)]), 4);
        assert_eq!(looks_taken(&mut quiet, &[(0, 5), (0, 6), (0, 7)]), 4);
        assert_eq!(looks_taken(&mut quiet, &[]), 0);
    }

    #[test]
    fn a_device_that_others_keep_busy_is_waited_for_less_and_less() {
        let mut quiet = Quiet::new();
        let busy = [(3, 0)];
        assert_eq!(looks_taken(&mut quiet, &busy), 50);
        assert_eq!(looks_taken(&mut quiet, &busy), 25);
        assert_eq!(looks_taken(&mut quiet, &busy), 13);
        for _ in 0..10 {
            looks_taken(&mut quiet, &busy);
        }
        assert_eq!(looks_taken(&mut quiet, &busy), 2);
        assert_eq!(looks_taken(&mut quiet, &[(0, 0)]), 2);
        assert_eq!(looks_taken(&mut quiet, &busy), 50);
    }
}
