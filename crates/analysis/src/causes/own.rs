//! Causes that a study defines: one of its figures is time that its slices spent
//! on something.

use model::cause::CauseCode;

use super::rule::{Finding, Role, Weighed};
use crate::totals::ArmTotals;

/// What the causes of the arm's own study find in it.
pub(super) fn weigh(totals: &ArmTotals) -> impl Iterator<Item = Weighed<'_>> {
    totals.own_times.iter().map(|own| {
        let finding = Finding::of_part(totals, own.time_ns, own.cause.threshold_share);
        let evidence =
            [("time_percent", finding.share * 100.0), ("time_ns_per_op", finding.cost_ns_per_op)];
        Weighed {
            code: CauseCode::OfStudy(own.cause.code.clone()),
            what: &own.cause.what,
            role: Role::Cost,
            finding: finding.with(evidence),
        }
    })
}
