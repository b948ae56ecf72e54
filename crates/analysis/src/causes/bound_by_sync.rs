//! Bound by sync: the time went into forcing data to the device.

use super::rule::{BOUND, Finding, Role, Rule};
use crate::totals::ArmTotals;
use model::cause::{CauseCode, Scope};

pub(super) const RULE: Rule = Rule {
    code: CauseCode::BoundBySync,
    what: "forcing data to the device (fsync)",
    weigh,
    role: Role::Cost,
    scope: Scope::Arm,
};

fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let sync_ns = totals.spent.sync_ns as f64;
    let sync_calls = totals.spent.sync_calls as f64;
    let share = totals.share(sync_ns);
    let mut evidence = vec![
        ("sync_time_percent", share * 100.0),
        ("sync_ns_per_op", totals.per_op(sync_ns)),
        ("sync_calls_per_op", totals.per_op(sync_calls)),
        ("sync_ns_per_call", sync_ns / sync_calls),
    ];
    let flushes = totals.spent.device.and_then(|device| device.flushes);
    evidence.extend(flushes.map(|n| ("device_flushes_per_op", totals.per_op(n as f64))));
    (sync_calls > 0.0).then(|| Finding {
        named: share >= BOUND,
        share,
        cost_ns_per_op: totals.per_op(sync_ns),
        evidence,
        detail: String::new(),
    })
}
