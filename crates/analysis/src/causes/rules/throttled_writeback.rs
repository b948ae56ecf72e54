//! Throttled writeback: writers are made to sleep until the device has caught up
//! (`balance_dirty_pages` in `mm/page-writeback.c`).
//!
//! No counter tells of it by itself. It shows as writes to the cache that sleep,
//! outside any sync or lock, while there is dirty data and nothing is read.

use units::rough_size;

use crate::causes::parts::Parts;
use crate::causes::rule::{Finding, NOTABLE};
use crate::causes::waiting::Waiting;
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let dirtied_bytes = totals.spent.calls?.storage_dirtied_bytes as f64;
    let (left_bytes, written_bytes) = (totals.unwritten_bytes(), totals.device_written_bytes());
    let finding = Finding::of_time(totals, parts.waiting_ns(Waiting::Writeback), NOTABLE, "wait");
    let evidence = [("dirtied_bytes_per_slice", totals.per_slice(dirtied_bytes))];
    let left = left_bytes.map(|n| ("left_in_cache_bytes_per_slice", totals.per_slice(n)));
    let written = written_bytes.map(|n| ("device_written_bytes_per_slice", totals.per_slice(n)));
    let waited_ns = totals.pressure().map(|pressure| pressure.io_some_ns as f64);
    let waited = waited_ns.map(|ns| ("io_pressure_percent", totals.share(ns) * 100.0));
    let memory = totals.surroundings.memory.into_iter().flat_map(|memory| {
        let dirty_bytes = memory.dirty_bytes.0 + memory.writeback_bytes.0;
        [
            ("machine_dirty_bytes_max", dirty_bytes as f64),
            ("machine_dirty_limit_bytes", memory.dirty_limit_bytes.0 as f64),
        ]
    });
    let detail = written_bytes.map_or_else(String::new, |bytes| {
        format!("it wrote {} meanwhile", rough_size(totals.per_slice(bytes) as u64))
    });
    let finding = finding.with(evidence).with(left).with(written).with(waited).with(memory);
    Some(finding.detailed(detail))
}
