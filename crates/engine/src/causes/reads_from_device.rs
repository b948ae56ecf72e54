//! Reads from the device: data was not in memory and had to be waited for.

use model::units::rough_size;

use crate::causes::{Finding, NOTABLE, Role, Rule, Tally};

pub(super) const RULE: Rule = Rule {
    code: "reads-from-device",
    what: "waiting for the device to deliver data",
    weigh,
    role: Role::Cost,
};

/// Named where storage read for this very process, which the kernel counts
/// process by process, and more than it was given to write: a slice that mostly
/// writes reads a block of the file system's own now and then.
fn weigh(tally: &Tally) -> Option<Finding> {
    let calls = tally.calls?;
    let read_bytes = calls.storage_read_bytes;
    let reads = read_bytes > calls.storage_dirtied_bytes;
    let waiting_ns = if reads { tally.waiting_ns()? } else { 0.0 };
    let share = tally.undisturbed_share(waiting_ns);
    let mut evidence = vec![
        ("wait_time_percent", share * 100.0),
        ("wait_ns_per_op", tally.per_op(waiting_ns)),
        ("device_read_bytes_per_slice", tally.per_slice(read_bytes)),
        ("requested_bytes_per_slice", tally.per_slice(tally.requested_bytes)),
        ("major_faults_per_slice", tally.per_slice(tally.major_faults)),
    ];
    evidence.extend(
        tally
            .residency
            .map(|r| ("cached_before_bytes_per_slice", tally.per_slice(r.cached_before_bytes))),
    );
    let detail = format!(
        "{} a slice came from it and not from memory",
        rough_size(tally.per_slice(read_bytes) as u64)
    );
    Some(Finding {
        named: share >= NOTABLE,
        share,
        cost_ns_per_op: tally.per_op(waiting_ns),
        evidence,
        detail,
    })
}
