//! What calls cost, with the recorder's own time taken out.

use serde::Serialize;

use super::cover::Cover;
use crate::call::Call;
use crate::header::TollNs;

/// A time in nanoseconds, which is between these two: the recorder's own part in it is known no
/// better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RangeNs {
    /// At the least.
    pub low: u64,
    /// At the most.
    pub high: u64,
}

/// A share of the program's wall time, which is between these two; 1 is all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// At the least.
    pub low: f64,
    /// At the most.
    pub high: f64,
}

impl Share {
    /// Of a time in the whole.
    pub(crate) fn of(part: RangeNs, whole: RangeNs) -> Self {
        let share = |part: u64, whole: u64| (part as f64 / whole.max(1) as f64).min(1.0);
        Self { low: share(part.low, whole.high), high: share(part.high, whole.low) }
    }

    /// The same of a sum, in the middle of what it can be.
    pub(crate) fn of_sum(ns: u64, whole: RangeNs) -> f64 {
        (ns as f64 / whole.low.midpoint(whole.high).max(1) as f64).min(1.0)
    }

    /// In the middle of the two.
    pub fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}

/// What some calls cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// How many.
    pub calls: u64,
    /// How many of these failed.
    pub failed: u64,
    /// How many bytes they read.
    pub read_bytes: u64,
    /// How many bytes they wrote.
    pub written_bytes: u64,
    /// Their times added up, those of threads in parallel as often as there are.
    pub summed_ns: RangeNs,
    /// The time in which at least one of them was under way: threads in parallel counted once.
    pub once_ns: RangeNs,
    /// This as a share of the program's wall time. No more can be saved, were they to take no
    /// time at all.
    pub share: Share,
    /// The longest.
    pub longest_ns: u64,
}

/// How long a call took without the recorder's part.
pub(crate) fn took(call: &Call, within: TollNs) -> RangeNs {
    RangeNs {
        low: call.took_ns.saturating_sub(within.high),
        high: call.took_ns.saturating_sub(within.low),
    }
}

/// A cost as it adds up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    cost: Cost,
    cover: Cover,
}

impl Sum {
    /// Counts a call but for the time that it was under way.
    pub(crate) fn count(&mut self, call: &Call, took: RangeNs, bytes: [u64; 2]) {
        let cost = &mut self.cost;
        let [read, written] = bytes;
        cost.calls += 1;
        cost.failed += u64::from(call.failed());
        cost.read_bytes = cost.read_bytes.saturating_add(read);
        cost.written_bytes = cost.written_bytes.saturating_add(written);
        cost.summed_ns.low = cost.summed_ns.low.saturating_add(took.low);
        cost.summed_ns.high = cost.summed_ns.high.saturating_add(took.high);
        cost.longest_ns = cost.longest_ns.max(took.high);
    }

    /// The time that one was under way, in the order of beginnings.
    pub(crate) fn cover(&mut self, began_ns: u64, took: RangeNs, is_late: bool) {
        self.cover.add(began_ns, took, is_late);
    }

    /// How long they took at the most, threads in parallel counted once.
    pub(crate) fn once_high(&self) -> u64 {
        self.cover.total().high
    }

    pub(crate) fn cost(&self, wall_ns: RangeNs) -> Cost {
        let once_ns = self.cover.total();
        Cost { once_ns, share: Share::of(once_ns, wall_ns), ..self.cost }
    }
}
