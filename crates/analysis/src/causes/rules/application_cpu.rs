//! The application's own processor time, which no storage can shorten.

use model::cause::{CauseCode, Scope};

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding, Role, Rule};
use crate::totals::ArmTotals;

pub(super) const RULE: Rule = Rule {
    code: CauseCode::ApplicationCpu,
    what: "the program's own CPU time",
    weigh,
    role: Role::Cost,
    scope: Scope::Arm,
};

fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let finding = Finding::of_time(totals, parts.program_ns, BOUND);
    let evidence =
        [("own_time_percent", finding.share * 100.0), ("own_ns_per_op", finding.cost_ns_per_op)];
    (totals.cpu_ns() > 0.0).then(|| finding.with(evidence))
}
