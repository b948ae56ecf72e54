//! System calls: the kernel's work for each call, whatever it moves.

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding};
use crate::totals::{ArmTotals, all_calls};

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let calls = all_calls(totals.spent.calls?);
    let finding = Finding::of_time(totals, parts.calls_ns, BOUND, "kernel");
    let evidence = [
        // Opening, closing, locking and syncing are not counted by the kernel.
        ("read_and_write_calls_per_op", totals.per_op(calls)),
        ("bytes_per_call", totals.moved_bytes()? / calls.max(1.0)),
    ];
    Some(finding.with(evidence))
}
