//! Times and shares that are known to lie between two numbers.

use serde::Serialize;

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

impl RangeNs {
    /// In the middle of the two.
    pub(crate) fn middle(self) -> f64 {
        self.low.midpoint(self.high) as f64
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.low = self.low.saturating_add(other.low);
        self.high = self.high.saturating_add(other.high);
    }
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

    /// In the middle of the two.
    pub fn middle(self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}
