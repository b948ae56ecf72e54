//! Causes that a study defines: one of its figures is time that its slices spent
//! on something.

use model::cause::{CauseCode, Scope};

use super::rule::{Finding, Role, Weighed};
use crate::totals::ArmTotals;

/// What the causes of the arm's own study find in it.
pub(super) fn weigh(totals: &ArmTotals) -> impl Iterator<Item = Weighed<'_>> {
    totals.own_times.iter().map(|own| {
        let share = totals.undisturbed_share(own.time_ns);
        let cost_ns_per_op = totals.per_op(own.time_ns);
        Weighed {
            code: CauseCode::OfStudy(own.cause.code.clone()),
            what: &own.cause.what,
            role: Role::Cost,
            scope: Scope::Arm,
            finding: Finding {
                named: share >= own.cause.threshold_share,
                share,
                cost_ns_per_op,
                evidence: vec![("time_percent", share * 100.0), ("time_ns_per_op", cost_ns_per_op)],
                detail: String::new(),
            },
        }
    })
}
