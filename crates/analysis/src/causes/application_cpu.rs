//! The application's own processor time, which no storage can shorten.

use super::rule::{BOUND, Finding, Role, Rule};
use crate::totals::ArmTotals;
use model::cause::{CauseCode, Scope};

pub(super) const RULE: Rule = Rule {
    code: CauseCode::ApplicationCpu,
    what: "the program's own CPU time",
    weigh,
    role: Role::Cost,
    scope: Scope::Arm,
};

fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let user_ns = totals.spent.user_ns as f64;
    let share = totals.undisturbed_share(user_ns);
    totals.tells_kernel_from_program().then(|| Finding {
        named: share >= BOUND,
        share,
        cost_ns_per_op: totals.per_op(user_ns),
        evidence: vec![
            ("own_time_percent", share * 100.0),
            ("own_ns_per_op", totals.per_op(user_ns)),
        ],
        detail: String::new(),
    })
}
