//! Reads from the device: data was not in memory and had to be waited for.

use model::cause::{CauseCode, Scope};
use model::units::rough_size;

use super::rule::{Finding, NOTABLE, Role, Rule};
use crate::totals::ArmTotals;

pub(super) const RULE: Rule = Rule {
    code: CauseCode::ReadsFromDevice,
    what: "waiting for reads from the device",
    weigh,
    role: Role::Cost,
    scope: Scope::Arm,
};

/// Named where storage read for this very process, which the kernel counts
/// process by process, and more than it was given to write: a slice that mostly
/// writes reads a block of the file system's own now and then.
fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let calls = totals.spent.calls?;
    let read_bytes = calls.storage_read_bytes as f64;
    let reads = read_bytes > calls.storage_dirtied_bytes as f64;
    let waiting_ns = if reads { totals.waiting_ns()? } else { 0.0 };
    let share = totals.undisturbed_share(waiting_ns);
    let mut evidence = vec![
        ("wait_time_percent", share * 100.0),
        ("wait_ns_per_op", totals.per_op(waiting_ns)),
        ("device_read_bytes_per_slice", totals.per_slice(read_bytes)),
        ("requested_bytes_per_slice", totals.per_slice(totals.spent.requested_bytes as f64)),
        ("major_faults_per_slice", totals.per_slice(totals.spent.major_faults as f64)),
    ];
    evidence.extend(totals.surroundings.residency.map(|seen| {
        ("cached_before_bytes_per_slice", totals.per_slice(seen.cached_before_bytes as f64))
    }));
    let detail = format!(
        "{} per slice came from it rather than from memory",
        rough_size(totals.per_slice(read_bytes) as u64)
    );
    Some(Finding {
        named: share >= NOTABLE,
        share,
        cost_ns_per_op: totals.per_op(waiting_ns),
        evidence,
        detail,
    })
}
