//! Memory pressure: data that had been in memory was pushed out and had to come
//! back, or memory had to be freed before there was some.

use model::cause::{CauseCode, Scope};
use model::units::{percent, rough_size};

use super::rule::{Finding, Role, Rule};
use crate::totals::ArmTotals;

pub(super) const RULE: Rule = Rule {
    code: CauseCode::MemoryPressure,
    what: "",
    weigh,
    role: Role::Disturbance,
    scope: Scope::Run,
};

/// Waiting for memory for less than this share of the time is below any `worth`.
const STALL_MIN: f64 = 0.05;
/// So much of what storage read having been in memory shortly before is thrashing.
const REFAULTED_MIN: f64 = 0.1;

fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let memory = totals.surroundings.memory?;
    let refaulted_bytes = memory.refaulted_bytes as f64;
    let swapped_bytes = (memory.swapped_in_bytes + memory.swapped_out_bytes) as f64;
    let major_faults = totals.spent.major_faults as f64;
    let stall_ns = totals.pressure().map(|p| p.memory_ns);
    let share = stall_ns.map_or(0.0, |ns| totals.share(ns));
    let read_bytes = totals.spent.calls.map_or(0.0, |calls| calls.storage_read_bytes as f64);
    let refaults = read_bytes > 0.0 && refaulted_bytes >= read_bytes * REFAULTED_MIN;
    // Others' swapping matters to this process once its own pages are gone too.
    let swaps = swapped_bytes > 0.0 && major_faults > 0.0;
    let mut evidence = vec![
        ("refaulted_bytes_per_slice", totals.per_slice(refaulted_bytes)),
        ("swapped_bytes_per_slice", totals.per_slice(swapped_bytes)),
        ("major_faults_per_slice", totals.per_slice(major_faults)),
    ];
    evidence.extend(stall_ns.map(|_| ("memory_stall_time_percent", share * 100.0)));
    let limit_hits = totals.surroundings.group.and_then(|group| group.memory_limit_hits);
    evidence
        .extend(limit_hits.map(|n| ("memory_limit_hits_per_slice", totals.per_slice(n as f64))));
    let detail = format!(
        "memory was short: tasks stalled on memory {} of the time, and {} per slice had to be \
         read again after being evicted",
        percent(share),
        rough_size(totals.per_slice(refaulted_bytes) as u64)
    );
    Some(Finding {
        named: share >= STALL_MIN || refaults || swaps,
        share,
        cost_ns_per_op: 0.0,
        evidence,
        detail,
    })
}
