//! Page faults: pages of memory or of mapped files that were touched and not yet
//! mapped. Each takes at least what a bare fault took before the run.

use crate::causes::parts::Parts;
use crate::causes::rule::{Finding, NOTABLE};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let floor = totals.memory?;
    let faults = totals.spent.minor_faults as f64;
    let finding = Finding::of_time(totals, parts.faults_ns, NOTABLE, "fault");
    let evidence =
        [("minor_faults_per_op", totals.per_op(faults)), ("bare_fault_ns", floor.fault_ns)];
    let detail = format!("{:.1} per {}", totals.per_op(faults), totals.operation);
    Some(finding.with(evidence).detailed(detail))
}
