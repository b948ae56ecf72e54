//! The application's own processor time, which no storage can shorten.

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let finding = Finding::of_time(totals, parts.program_ns, BOUND);
    let evidence =
        [("own_time_percent", finding.share * 100.0), ("own_ns_per_op", finding.cost_ns_per_op)];
    (totals.cpu_ns() > 0.0).then(|| finding.with(evidence))
}
