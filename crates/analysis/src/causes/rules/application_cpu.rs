//! The application's own processor time, which no storage can shorten.

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let finding = Finding::of_time(totals, parts.program_ns, BOUND, "own");
    (totals.cpu_ns() > 0.0).then_some(finding)
}
