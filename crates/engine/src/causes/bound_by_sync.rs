//! Bound by sync: the time went into forcing data to the device.

use crate::causes::{BOUND, Finding, Role, Rule, Tally};

pub(super) const RULE: Rule = Rule {
    code: "bound-by-sync",
    what: "forcing data to the device (fsync)",
    weigh,
    role: Role::Cost,
};

fn weigh(tally: &Tally) -> Option<Finding> {
    let share = tally.share(tally.sync_ns);
    (tally.sync_calls > 0.0).then(|| Finding {
        named: share >= BOUND,
        share,
        cost_ns_per_op: tally.per_op(tally.sync_ns),
        evidence: vec![
            ("sync_time_percent", share * 100.0),
            ("sync_ns_per_op", tally.per_op(tally.sync_ns)),
            ("sync_calls_per_op", tally.per_op(tally.sync_calls)),
            ("sync_ns_per_call", tally.sync_ns / tally.sync_calls),
        ],
        detail: String::new(),
    })
}
