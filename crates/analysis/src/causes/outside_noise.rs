//! Noise from outside: others wanted the processor that the slice was to run on.

use model::cause::{CauseCode, Scope};
use model::units::percent;

use super::rule::{Finding, Role, Rule};
use crate::totals::ArmTotals;

pub(super) const RULE: Rule = Rule {
    code: CauseCode::OutsideNoise,
    what: "",
    weigh,
    role: Role::Disturbance,
    scope: Scope::Run,
};

/// Time lost to others that is as large as the usual `worth` may decide a block.
const LOST_MIN: f64 = 0.05;

fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let cpus = totals.surroundings.cpus?;
    let machine_ns = totals.machine_ns()?.max(1.0);
    let queued_ns = totals.spent.run_queue_ns? as f64;
    let others_ns = (cpus.busy_ns as f64 - totals.cpu_ns()).max(0.0);
    // Waiting for a processor counts as outside noise where others were running;
    // threads of one's own can keep each other waiting as well.
    let queued = totals.share(queued_ns.min(others_ns));
    let stolen = cpus.steal_ns as f64 / machine_ns;
    let throttled_ns =
        totals.surroundings.group.and_then(|group| group.throttled_ns).map(|ns| ns as f64);
    let throttled = throttled_ns.map_or(0.0, |ns| ns / totals.time_ns().max(1.0));
    let others = (others_ns / machine_ns).min(1.0);
    let share = queued.max(stolen).max(throttled).min(1.0);
    let mut evidence = vec![
        ("waited_for_processor_percent", queued * 100.0),
        ("other_load_percent", others * 100.0),
        ("steal_percent", stolen * 100.0),
    ];
    evidence.extend(throttled_ns.map(|_| ("quota_throttled_percent", throttled * 100.0)));
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
    Some(Finding { named: share >= LOST_MIN, share, cost_ns_per_op: 0.0, evidence, detail })
}
