//! Bound by sync: the time went into forcing data to the device.

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let sync_calls = totals.spent.sync_calls as f64;
    let finding = Finding::of_time(totals, parts.sync_ns, BOUND, "sync");
    let evidence = [
        ("sync_calls_per_op", totals.per_op(sync_calls)),
        ("sync_ns_per_call", totals.spent.sync_ns as f64 / sync_calls),
    ];
    let flushes = totals.spent.device.and_then(|device| device.flushes);
    let flushes = flushes.map(|n| n as f64);
    let detail = flushes
        .filter(|n| *n >= sync_calls * FLUSHES_TOLD)
        .map(|n| format!("the device flushed its own cache {:.1} times per call", n / sync_calls));
    let flushes = flushes.map(|n| ("device_flushes_per_op", totals.per_op(n)));
    (sync_calls > 0.0)
        .then(|| finding.with(evidence).with(flushes).detailed(detail.unwrap_or_default()))
}

/// From so many of a device's flushes per call on they are worth telling.
const FLUSHES_TOLD: f64 = 0.5;
