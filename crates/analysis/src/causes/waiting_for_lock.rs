//! Waiting for a lock that somebody else held.

use super::rule::{Finding, NOTABLE, Role, Rule};
use crate::totals::ArmTotals;
use model::cause::{CauseCode, Scope};

pub(super) const RULE: Rule = Rule {
    code: CauseCode::WaitingForLock,
    what: "waiting for locks held by others",
    weigh,
    role: Role::Cost,
    scope: Scope::Arm,
};

/// Taking a free lock is work and not waiting, and a slice that is preempted
/// while it does so waits for a processor. What counts is time in lock calls in
/// which the worker slept.
fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let lock_ns = totals.spent.lock_ns as f64;
    let lock_calls = totals.spent.lock_calls as f64;
    let asleep_ns = (totals.asleep_ns()? - totals.spent.sync_ns as f64).max(0.0);
    let waited_ns = lock_ns.min(asleep_ns);
    let share = totals.undisturbed_share(waited_ns);
    Some(Finding {
        named: share >= NOTABLE,
        share,
        cost_ns_per_op: totals.per_op(waited_ns),
        evidence: vec![
            ("lock_wait_time_percent", share * 100.0),
            ("lock_wait_ns_per_op", totals.per_op(waited_ns)),
            ("lock_ns_per_call", lock_ns / lock_calls.max(1.0)),
            ("lock_calls_per_op", totals.per_op(lock_calls)),
        ],
        detail: String::new(),
    })
}
