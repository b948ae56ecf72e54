//! Noise from outside: others wanted the processor that the slice was to run on.

use model::spent::{Calls, Spent};
use units::percent;

use crate::causes::parts::Parts;
use crate::causes::rule::Finding;
use crate::totals::ArmTotals;

/// Time lost to others that is as large as the usual threshold may decide a block.
const LOST_MIN: f64 = 0.05;

pub(super) fn weigh(totals: &ArmTotals, _parts: &Parts) -> Option<Finding> {
    let cpus = totals.surroundings.cpus?;
    let machine_ns = totals.machine_ns()?.max(1.0);
    let queued_ns = totals.spent.run_queue_ns? as f64;
    let others_ns = others_ns(totals)?;
    // Waiting for a processor counts as outside noise where others were running;
    // threads of one's own can keep each other waiting as well.
    let queued = totals.share(queued_ns.min(others_ns));
    let stolen = cpus.steal_ns as f64 / machine_ns;
    let throttled_ns =
        totals.surroundings.group.and_then(|group| group.throttled_ns).map(|ns| ns as f64);
    let throttled = throttled_ns.map_or(0.0, |ns| ns / totals.time_ns().max(1.0));
    let others = (others_ns / machine_ns).min(1.0);
    let share = queued.max(stolen).max(throttled).min(1.0);
    let evidence = [
        ("waited_for_processor_percent", queued * 100.0),
        ("other_load_percent", others * 100.0),
        ("steal_percent", stolen * 100.0),
    ];
    let quota = throttled_ns.map(|_| ("quota_throttled_percent", throttled * 100.0));
    let lost = percent(share);
    let detail = if share <= queued {
        let busy = percent(others);
        format!(
            "{lost} of the time was spent waiting for a CPU, while other programs used {busy} of \
             all CPU time"
        )
    } else if share <= stolen {
        format!("the hypervisor gave {lost} of the CPU time to other virtual machines (steal)")
    } else {
        format!("the container's CPU quota was exhausted {lost} of the time")
    };
    Some(Finding::of_state(share >= LOST_MIN, share, detail).with(evidence).with(quota))
}

/// Others' time on processors. Kernel threads write back, free and discard what the slices
/// themselves gave them, and which thread worked for whom is not told; but they are never
/// in programs' own code. So where the slices gave the devices work, only that
/// counts as others'.
fn others_ns(totals: &ArmTotals) -> Option<f64> {
    let cpus = totals.surroundings.cpus?;
    let all_ns = (cpus.busy_ns as f64 - totals.cpu_ns()).max(0.0);
    let Some(user_ns) = cpus.user_ns.filter(|_| gave_devices_work(totals)) else {
        return Some(all_ns);
    };
    let in_programs_ns = (user_ns as f64 - totals.spent.user_ns as f64).max(0.0);
    Some(in_programs_ns.min(all_ns))
}

/// Whether kernel threads had reason to work for the slices.
fn gave_devices_work(totals: &ArmTotals) -> bool {
    let Spent { calls, device, sync_calls, name_changes, .. } = totals.spent;
    let moved_bytes = calls.map_or(0, Calls::storage_bytes);
    device.is_some() && moved_bytes + sync_calls + name_changes > 0
}
