//! Absorbed by the page cache: what was written had not reached the device when
//! the clock stopped, so the time per operation says nothing of the device.

use units::{rough_size, time};

use crate::causes::parts::Parts;
use crate::causes::rule::Finding;
use crate::totals::ArmTotals;

/// Fewer bytes written per operation than this are not what the arm does.
const WRITES_MIN: f64 = 0.5;
/// Up to this share may have reached the device, by writeback that happened to
/// run meanwhile, for the time per operation still to be that of memory.
const REACHED_MAX: f64 = 0.1;

pub(super) fn weigh(totals: &ArmTotals, _parts: &Parts) -> Option<Finding> {
    let written_bytes = requested(totals);
    if !writes(totals, written_bytes) {
        return None;
    }
    let left_bytes = match totals.unwritten_bytes() {
        Some(unwritten_bytes) => unwritten_bytes,
        // Without the pages' own word: what the flush that followed had to write.
        None => (totals.deferred.device?.written_bytes as f64).min(written_bytes),
    };
    let missing_bytes = (written_bytes - left_bytes).max(0.0);
    // The device's counter includes others' writes, so it bounds from above.
    let reached_bytes =
        totals.device_written_bytes().map_or(missing_bytes, |d| d.min(missing_bytes));
    let named = left_bytes > 0.0 && reached_bytes <= written_bytes * REACHED_MAX;
    let [reached, written] = [reached_bytes, written_bytes].map(|n| totals.per_slice(n));
    let deferred_ns = totals.per_slice(totals.deferred.sync_ns as f64);
    let share = if named { 1.0 - reached_bytes / written_bytes.max(1.0) } else { 0.0 };
    let evidence = [
        ("written_bytes_per_slice", written),
        ("reached_device_bytes_per_slice", reached),
        ("left_in_cache_bytes_per_slice", totals.per_slice(left_bytes)),
        ("deferred_sync_ns_per_slice", deferred_ns),
    ];
    let detail = format!(
        "{} of {} per slice had reached the device when the clock stopped; flushing the rest took \
         another {}",
        if reached < 0.5 { "0".to_owned() } else { rough_size(reached as u64) },
        rough_size(written as u64),
        time(deferred_ns)
    );
    Some(Finding::of_state(named, share, detail).with(evidence))
}

/// Whether the arm writes to the page cache at all: files that lie there unwritten since
/// before the clock started, and stray bytes of a slice that reads, are no writes of its own.
fn writes(totals: &ArmTotals, written_bytes: f64) -> bool {
    let dirtied = totals.spent.calls.is_none_or(|calls| calls.storage_dirtied_bytes > 0);
    dirtied && written_bytes > totals.operations as f64 * WRITES_MIN
}

/// What was written. Calls count bytes that were written over again, which pages
/// do not.
fn requested(totals: &ArmTotals) -> f64 {
    let requested_bytes = totals.spent.requested_bytes;
    let written_bytes = totals.spent.calls.map(|calls| calls.written_bytes);
    written_bytes.map_or(requested_bytes, |written| written.min(requested_bytes)) as f64
}
