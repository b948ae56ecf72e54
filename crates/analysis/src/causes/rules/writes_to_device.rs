//! Writes to the device: what was written went past the page cache, with `O_DIRECT` or
//! `O_DSYNC`, and had to be waited for.

use units::rough_size;

use crate::causes::parts::Parts;
use crate::causes::rule::{Finding, NOTABLE};
use crate::causes::waiting::Waiting;
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let written_bytes = totals.spent.calls?.storage_dirtied_bytes as f64;
    let device_bytes = totals.device_written_bytes()?;
    let finding = Finding::of_time(totals, parts.waiting_ns(Waiting::Writes), NOTABLE, "wait");
    let evidence = [
        ("written_bytes_per_slice", totals.per_slice(written_bytes)),
        ("device_written_bytes_per_slice", totals.per_slice(device_bytes)),
        ("left_in_cache_bytes_per_slice", totals.per_slice(totals.unwritten_bytes()?)),
    ];
    let written = rough_size(totals.per_slice(written_bytes) as u64);
    Some(finding.with(evidence).detailed(format!("{written} per slice had to reach it")))
}
