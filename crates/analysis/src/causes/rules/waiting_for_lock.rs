//! Waiting for a lock that somebody else held.

use crate::causes::parts::Parts;
use crate::causes::rule::{Finding, NOTABLE};
use crate::totals::ArmTotals;

/// Taking a free lock is work and not waiting, and a slice that is preempted
/// while it does so waits for a processor. What counts is time in lock calls in
/// which the worker slept.
pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let lock_calls = totals.spent.lock_calls as f64;
    totals.asleep_ns()?;
    let finding = Finding::of_time(totals, parts.lock_ns, NOTABLE, "lock_wait");
    let evidence = [
        ("lock_ns_per_call", totals.spent.lock_ns as f64 / lock_calls.max(1.0)),
        ("lock_calls_per_op", totals.per_op(lock_calls)),
    ];
    Some(finding.with(evidence))
}
