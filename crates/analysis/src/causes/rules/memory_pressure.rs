//! Memory pressure: tasks waited until memory was freed, or until what had been pushed
//! out of it came back.

use units::{percent, rough_size};

use crate::causes::parts::Parts;
use crate::causes::rule::Finding;
use crate::causes::waiting::Waiting;
use crate::totals::ArmTotals;

/// Waiting for memory for less than this share of the time is below any threshold.
const WAITED_MIN: f64 = 0.05;
/// So much of what storage read having been in memory shortly before is thrashing.
const REFAULTED_MIN: f64 = 0.1;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let memory = totals.surroundings.memory?;
    let stall_ns = totals.pressure().map(|pressure| pressure.memory_some_ns as f64);
    let stalled = stall_ns.map_or(0.0, |ns| totals.share(ns));
    let limit_hits = totals.surroundings.group.and_then(|group| group.memory_limit_hits);
    let refaulted_bytes = memory.refaulted_bytes as f64;
    let swapped_bytes = (memory.swapped_in_bytes + memory.swapped_out_bytes) as f64;
    let major_faults = totals.spent.major_faults as f64;
    let read_bytes = totals.spent.calls.map_or(0.0, |calls| calls.storage_read_bytes as f64);

    // The kernel counts waiting for pages that were in little use as waiting for storage,
    // though it was memory that had no room for them. Pages go only where the kernel looks
    // for some to free.
    let freed = memory.scanned_bytes > 0 || limit_hits.is_some_and(|hits| hits > 0);
    let came_back = read_bytes > 0.0 && refaulted_bytes >= read_bytes * REFAULTED_MIN;
    // Others' swapping matters to this process once its own pages are gone too.
    let swapped = swapped_bytes > 0.0 && major_faults > 0.0;
    let thrashed = freed && (came_back || swapped);
    let waited = totals.undisturbed_share(parts.waiting_ns(Waiting::Reads));
    let share = if thrashed { stalled.max(waited) } else { stalled };

    let evidence = [
        ("refaulted_bytes_per_slice", totals.per_slice(refaulted_bytes)),
        ("swapped_bytes_per_slice", totals.per_slice(swapped_bytes)),
        ("major_faults_per_slice", totals.per_slice(major_faults)),
        ("waited_time_percent", share * 100.0),
    ];
    let stall = stall_ns.map(|_| ("memory_stall_time_percent", stalled * 100.0));
    let hits = limit_hits.map(|n| ("memory_limit_hits_per_slice", totals.per_slice(n as f64)));
    let detail = format!(
        "memory was short: {} of the time was spent waiting for it, and {} per slice had to be \
         read again after being evicted",
        percent(share),
        rough_size(totals.per_slice(refaulted_bytes) as u64)
    );
    let finding = Finding::of_state(share >= WAITED_MIN, share, detail);
    Some(finding.with(evidence).with(stall).with(hits))
}
