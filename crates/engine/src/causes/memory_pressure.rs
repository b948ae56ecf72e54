//! Memory pressure: data that had been in memory was pushed out and had to come
//! back, or memory had to be freed before there was some.

use model::units::{percent, rough_size};

use crate::causes::{Finding, Role, Rule, Tally};

pub(super) const RULE: Rule =
    Rule { code: "memory-pressure", what: "", weigh, role: Role::Disturbance };

/// Waiting for memory for less than this share of the time is below any `worth`.
const STALL_MIN: f64 = 0.05;
/// So much of what storage read having been in memory shortly before is thrashing.
const REFAULTED_MIN: f64 = 0.1;

fn weigh(tally: &Tally) -> Option<Finding> {
    let memory = tally.memory?;
    let stall_ns = tally.pressure.map(|p| p.memory_ns);
    let share = stall_ns.map_or(0.0, |ns| tally.share(ns));
    let read_bytes = tally.calls.map_or(0.0, |calls| calls.storage_read_bytes);
    let refaults = read_bytes > 0.0 && memory.refaulted_bytes >= read_bytes * REFAULTED_MIN;
    // Others' swapping matters to this process once its own pages are gone too.
    let swaps = memory.swapped_bytes > 0.0 && tally.major_faults > 0.0;
    let mut evidence = vec![
        ("refaulted_bytes_per_slice", tally.per_slice(memory.refaulted_bytes)),
        ("swapped_bytes_per_slice", tally.per_slice(memory.swapped_bytes)),
        ("major_faults_per_slice", tally.per_slice(tally.major_faults)),
    ];
    evidence.extend(stall_ns.map(|_| ("memory_stall_time_percent", share * 100.0)));
    evidence.extend(
        tally.memory_limit_hits.map(|n| ("memory_limit_hits_per_slice", tally.per_slice(n))),
    );
    let detail = format!(
        "memory was short: {} of the time tasks waited for some, and {} a slice had to be read \
         again after memory had given it up",
        percent(share),
        rough_size(tally.per_slice(memory.refaulted_bytes) as u64)
    );
    Some(Finding {
        named: share >= STALL_MIN || refaults || swaps,
        share,
        cost_ns_per_op: 0.0,
        evidence,
        detail,
    })
}
