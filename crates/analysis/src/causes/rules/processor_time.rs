//! Time on a processor, where the kernel cannot have told its own from the program's.

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let finding = Finding::of_time(totals, parts.processor_ns, BOUND, "cpu");
    (totals.cpu_ns() > 0.0).then_some(finding)
}
