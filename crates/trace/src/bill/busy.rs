//! How long a program was busy: at least one of its threads was on a processor, or a file call was
//! under way. The rest of the time it waited for something else, such as its clients.

use super::cover::Cover;
use super::range::RangeNs;

/// The times in which no thread was on a processor or a file call was under way, counted once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Busy(Cover);

impl Busy {
    /// Adds a time of either kind, in the order of beginnings.
    pub(crate) fn add(&mut self, began_ns: u64, took: RangeNs, is_late: bool) {
        self.0.add(began_ns, took, is_late);
    }

    /// How much of the wall time the program was busy, where files took so much of it.
    pub(crate) fn of(&self, wall_ns: RangeNs, files_ns: RangeNs) -> RangeNs {
        let both = self.0.total();
        let idle = |both: u64, files: u64| both.saturating_sub(files);
        let [low, high] = [idle(both.low, files_ns.low), idle(both.high, files_ns.high)];
        let busy = |wall: u64, idle: u64, files: u64| wall.saturating_sub(idle).max(files).max(1);
        RangeNs {
            low: busy(wall_ns.low, low.max(high), files_ns.low.min(wall_ns.low)),
            high: busy(wall_ns.high, low.min(high), files_ns.high.min(wall_ns.high)),
        }
    }
}
