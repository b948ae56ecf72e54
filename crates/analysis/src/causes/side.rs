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
