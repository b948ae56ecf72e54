//! The application's own processor time, which no storage can shorten.

use crate::causes::{BOUND, Finding, Role, Rule, Tally};

pub(super) const RULE: Rule = Rule {
    code: "application-cpu",
    what: "the program's own work on the processor",
    weigh,
    role: Role::Cost,
};

fn weigh(tally: &Tally) -> Option<Finding> {
    let share = tally.undisturbed_share(tally.user_ns);
    tally.tells_kernel_from_program().then(|| Finding {
        named: share >= BOUND,
        share,
        cost_ns_per_op: tally.per_op(tally.user_ns),
        evidence: vec![
            ("own_time_percent", share * 100.0),
            ("own_ns_per_op", tally.per_op(tally.user_ns)),
        ],
        detail: String::new(),
    })
}
