//! Copying: the kernel's work for each byte that it moves between the page cache and
//! the program, and for each page that it frees with a file.

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let finding = Finding::of_time(totals, parts.copying_ns, BOUND, "copying");
    let evidence = [("moved_bytes_per_op", totals.per_op(totals.moved_bytes()?))];
    let floor = totals.place_floor.into_iter().flat_map(|floor| {
        [
            ("cached_read_ns_per_page", floor.read_ns_per_page),
            ("cached_write_ns_per_page", floor.write_ns_per_page),
            ("cached_free_ns_per_page", floor.free_ns_per_page),
        ]
    });
    Some(finding.with(evidence).with(floor))
}
