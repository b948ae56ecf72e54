//! Reads from the device: data was not in memory and had to be waited for.

use units::rough_size;

use crate::causes::parts::Parts;
use crate::causes::rule::{Finding, NOTABLE};
use crate::causes::waiting::Waiting;
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let read_bytes = totals.spent.calls?.storage_read_bytes as f64;
    let finding = Finding::of_time(totals, parts.waiting_ns(Waiting::Reads), NOTABLE, "wait");
    let evidence = [
        ("device_read_bytes_per_slice", totals.per_slice(read_bytes)),
        ("requested_bytes_per_slice", totals.per_slice(totals.spent.requested_bytes as f64)),
        ("major_faults_per_slice", totals.per_slice(totals.spent.major_faults as f64)),
    ];
    let cached = totals.surroundings.residency.map(|seen| {
        ("cached_before_bytes_per_slice", totals.per_slice(seen.cached_before_bytes as f64))
    });
    let detail = format!(
        "{} per slice came from it rather than from memory",
        rough_size(totals.per_slice(read_bytes) as u64)
    );
    Some(finding.with(evidence).with(cached).detailed(detail))
}
