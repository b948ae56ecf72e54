//! Waiting for a lock that somebody else held.

use crate::causes::{Finding, NOTABLE, Role, Rule, Tally};

pub(super) const RULE: Rule = Rule {
    code: "waiting-for-lock",
    what: "waiting for a lock that another held",
    weigh,
    role: Role::Cost,
};

/// Taking a free lock is work and not waiting, and a slice that is preempted
/// while it does so waits for a processor. What counts is time in lock calls in
/// which the worker slept.
fn weigh(tally: &Tally) -> Option<Finding> {
    let asleep_ns = (tally.asleep_ns()? - tally.sync_ns).max(0.0);
    let waited_ns = tally.lock_ns.min(asleep_ns);
    let share = tally.undisturbed_share(waited_ns);
    Some(Finding {
        named: share >= NOTABLE,
        share,
        cost_ns_per_op: tally.per_op(waited_ns),
        evidence: vec![
            ("lock_wait_time_percent", share * 100.0),
            ("lock_wait_ns_per_op", tally.per_op(waited_ns)),
            ("lock_ns_per_call", tally.lock_ns / tally.lock_calls.max(1.0)),
            ("lock_calls_per_op", tally.per_op(tally.lock_calls)),
        ],
        detail: String::new(),
    })
}
