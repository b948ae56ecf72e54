//! Metadata: the kernel's work for the names of files, which is the file system's own:
//! creating, renaming, removing, and finding room for them.

use crate::causes::parts::Parts;
use crate::causes::rule::{BOUND, Finding};
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, parts: &Parts) -> Option<Finding> {
    let changes = totals.spent.name_changes as f64;
    let finding = Finding::of_time(totals, parts.names_ns, BOUND, "metadata");
    let evidence = [("name_changes_per_op", totals.per_op(changes))];
    let place = totals.place.as_ref();
    let journal = place.and_then(|place| place.journal);
    let detail = match place.map(|place| place.filesystem.as_str()) {
        // `recently_deleted` in `fs/ext4/ialloc.c`.
        Some("ext4") if journal == Some(false) => {
            "ext4 without a journal skips inodes that were freed within the last minutes, so that \
             creating a file takes longer where many were removed shortly before"
        }
        _ if journal == Some(true) => "the changes went through its journal",
        _ => "",
    };
    (changes > 0.0).then(|| finding.with(evidence).detailed(detail.to_owned()))
}
