//! Clearing huge pages: a tmpfs with `huge=always` gives a small file a page of 2 MiB, and the
//! kernel clears all of it that the file does not use.

use units::{rough_size, time};

use crate::causes::parts::{PAGE_BYTES, Parts, cleared_pages};
use crate::causes::rule::{Finding, NOTABLE};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let cleared_bytes = totals.per_op(cleared_pages(totals)? * PAGE_BYTES);
    let each_ns = totals.memory?.huge_clear_ns?;
    let finding = Finding::of_time(totals, parts.clearing_ns, NOTABLE, "clearing");
    let evidence = [("cleared_bytes_per_op", cleared_bytes), ("clearing_ns_per_page", each_ns)];
    let detail = format!(
        "{} per {} that the files do not use, at {} for 4 KiB; mount it with huge=within_size",
        rough_size(cleared_bytes as u64),
        totals.operation,
        time(each_ns)
    );
    Some(finding.with(evidence).detailed(detail))
}
