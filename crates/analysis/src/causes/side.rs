//! One of two arms that are compared.

use crate::totals::ArmTotals;

/// One side of a comparison.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    /// What tells it from the other: `on disk`, or `with held`.
    pub(crate) label: &'a str,
    /// Its readings.
    pub(crate) totals: &'a ArmTotals,
}

impl Side<'_> {
    /// Its time per operation, without waits for a processor.
    pub(super) fn undisturbed_ns_per_op(self) -> f64 {
        self.totals.ns_per_op(self.totals.undisturbed_ns())
    }
}
