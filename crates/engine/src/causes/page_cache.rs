//! Absorbed by the page cache: what was written had not reached the device when
//! the clock stopped, so the toll says nothing of the device.

use model::units::{rough_size, time};

use crate::causes::{Finding, Role, Rule, Tally};

pub(super) const RULE: Rule =
    Rule { code: "absorbed-by-page-cache", what: "", weigh, role: Role::Shield };

/// Up to this share may have reached the device, by writeback that happened to
/// run meanwhile, for the toll still to be that of memory.
const REACHED_MAX: f64 = 0.1;

fn weigh(tally: &Tally) -> Option<Finding> {
    // Calls count bytes that were written over again, which pages do not.
    let written_bytes =
        tally.calls.map_or(tally.requested_bytes, |c| c.written_bytes.min(tally.requested_bytes));
    let left_bytes = match tally.residency {
        Some(seen) => seen.unwritten_bytes,
        // Without the pages' own word: what the flush that followed had to write.
        None => tally.device_deferred_bytes?.min(written_bytes),
    };
    let missing_bytes = (written_bytes - left_bytes).max(0.0);
    // The device's counter includes others' writes, so it bounds from above.
    let reached_bytes = tally.device_written_bytes.map_or(missing_bytes, |d| d.min(missing_bytes));
    let named = left_bytes > 0.0 && reached_bytes <= written_bytes * REACHED_MAX;
    let [reached, written] = [reached_bytes, written_bytes].map(|n| tally.per_slice(n));
    let deferred_ns = tally.per_slice(tally.deferred_sync_ns);
    Some(Finding {
        named,
        share: if named { 1.0 - reached_bytes / written_bytes.max(1.0) } else { 0.0 },
        cost_ns_per_op: 0.0,
        evidence: vec![
            ("written_bytes_per_slice", written),
            ("reached_device_bytes_per_slice", reached),
            ("left_in_cache_bytes_per_slice", tally.per_slice(left_bytes)),
            ("deferred_sync_ns_per_slice", deferred_ns),
        ],
        detail: format!(
            "{} of {} a slice had reached the device when the clock stopped; flushing them took \
             another {}",
            if reached < 0.5 { "0".to_owned() } else { rough_size(reached as u64) },
            rough_size(written as u64),
            time(deferred_ns)
        ),
    })
}
