//! Discards: the device was told which blocks are free no more in use, and the program
//! waited for that. A file system mounted with `discard` does so when it frees blocks;
//! ext4 without a journal does it within the call that removes a file.

use crate::causes::parts::Parts;
use crate::causes::rule::{Finding, NOTABLE};
use crate::causes::waiting::Waiting;
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let discards_per_op = totals.per_op(totals.spent.device?.discards? as f64);
    let finding = Finding::of_time(totals, parts.waiting_ns(Waiting::Discards), NOTABLE, "wait");
    let evidence = [("device_discards_per_op", discards_per_op)];
    let detail = format!("it was sent {discards_per_op:.1} discards per {}", totals.operation);
    Some(finding.with(evidence).detailed(detail))
}
