//! Throttled writeback: writers are made to sleep until the device has caught up
//! (`balance_dirty_pages` in `mm/page-writeback.c`).
//!
//! No counter tells of it by itself. It shows as writes to the cache that sleep,
//! outside any sync or lock, while there is dirty data and nothing is read.

use model::cause::{CauseCode, Scope};
use model::units::rough_size;

use super::rule::{Finding, NOTABLE, Role, Rule};
use crate::totals::ArmTotals;

pub(super) const RULE: Rule = Rule {
    code: CauseCode::ThrottledWriteback,
    what: "waiting for writeback (dirty page throttling)",
    weigh,
    role: Role::Cost,
    scope: Scope::Arm,
};

/// Reads beyond this share of the writes may be what was waited for instead.
const READS_MAX: f64 = 0.1;
/// The kernel's pressure figures must bear out this share of the sleep as storage's.
/// They weigh each processor by how busy it is, so that one waiter on a machine
/// of n busy processors shows as 1/n (`Documentation/accounting/psi.rst`).
const BORNE_OUT: f64 = 0.5;

fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let calls = totals.spent.calls?;
    let dirtied_bytes = calls.storage_dirtied_bytes as f64;
    let waiting_ns = totals.waiting_ns()?;
    let share = totals.undisturbed_share(waiting_ns);
    let left_bytes = totals.unwritten_bytes();
    let written_bytes = totals.device_written_bytes();
    // Data in the cache on its way to a device that is writing: neither a file
    // system in memory nor direct or synchronous writes, which wait by design.
    let writes_back = dirtied_bytes > 0.0
        && left_bytes.or(written_bytes).is_some_and(|bytes| bytes > 0.0)
        && written_bytes.is_none_or(|bytes| bytes > 0.0);
    let reads = calls.storage_read_bytes as f64 > dirtied_bytes * READS_MAX;
    let processors = totals.processors();
    let borne_out =
        totals.pressure().is_none_or(|p| p.io_ns * processors >= waiting_ns * BORNE_OUT);
    let mut evidence = vec![
        ("wait_time_percent", share * 100.0),
        ("wait_ns_per_op", totals.per_op(waiting_ns)),
        ("dirtied_bytes_per_slice", totals.per_slice(dirtied_bytes)),
    ];
    evidence.extend(left_bytes.map(|n| ("left_in_cache_bytes_per_slice", totals.per_slice(n))));
    evidence.extend(written_bytes.map(|n| ("device_written_bytes_per_slice", totals.per_slice(n))));
    evidence
        .extend(totals.pressure().map(|p| ("io_pressure_percent", totals.share(p.io_ns) * 100.0)));
    if let Some(memory) = totals.surroundings.memory {
        let dirty_bytes = memory.dirty_bytes.0 + memory.writeback_bytes.0;
        evidence.push(("machine_dirty_bytes_max", dirty_bytes as f64));
        evidence.push(("machine_dirty_limit_bytes", memory.dirty_limit_bytes.0 as f64));
    }
    let detail = written_bytes.map_or_else(String::new, |bytes| {
        format!("it wrote {} meanwhile", rough_size(totals.per_slice(bytes) as u64))
    });
    let named = share >= NOTABLE && writes_back && !reads && borne_out;
    Some(Finding { named, share, cost_ns_per_op: totals.per_op(waiting_ns), evidence, detail })
}
