//! First touch: memory that the machine had not used before. On a virtual machine the
//! hypervisor may have to find it first, which takes several times as long as reusing
//! memory that was freed; what fills more of the page cache, or of a file system in
//! memory, pays for it once. A host may also take back what was freed; then it is paid for again,
//! so that the price is measured again when each stretch begins.

use units::{rough_size, time};

use crate::causes::parts::{PAGE_BYTES, Parts};
use crate::causes::rule::{Finding, NOTABLE};
use crate::totals::ArmTotals;

/// The first touch of a page must cost so many times the second.
const DEARER_MIN: f64 = 2.0;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let floor = totals.memory?;
    let first_touch_ns = totals.first_touch_ns();
    if first_touch_ns < floor.again_ns * DEARER_MIN {
        return None;
    }
    let finding = Finding::of_time(totals, parts.first_touch_ns, NOTABLE, "first_touch");
    // What was taken again, as far as the time bears it out.
    let bytes = totals.first_touched_bytes as f64;
    let more_ns = first_touch_ns - floor.again_ns;
    let again_bytes = (parts.first_touch_ns / more_ns * PAGE_BYTES).min(totals.taken.bytes as f64);
    let touched_bytes = totals.per_slice(bytes.max(again_bytes));
    let evidence = [
        ("first_touched_bytes_per_slice", touched_bytes),
        ("first_touch_ns_per_page", first_touch_ns),
        ("touch_again_ns_per_page", floor.again_ns),
    ];
    let detail = format!(
        "{} per slice, at {} a page instead of {}",
        rough_size(touched_bytes as u64),
        time(first_touch_ns),
        time(floor.again_ns)
    );
    Some(finding.with(evidence).detailed(detail))
}
