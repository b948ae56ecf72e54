//! Where an arm's time went, as it is shown: the parts that causes are found in, each with
//! its name.

use model::analysis::{TimeKind, TimePart};

use super::parts::Parts;
use super::waiting::Waiting;
use crate::totals::ArmTotals;

/// Less than this share of the time is not shown.
const SHARE_MIN: f64 = 0.001;

/// The parts of an arm's time per operation, the largest of each kind first.
pub(crate) fn of_arm(totals: &ArmTotals) -> Vec<TimePart> {
    let parts = Parts::of(totals);
    let waited_for = match parts.waited_for {
        Waiting::Reads => "waiting for reads from the device",
        Waiting::Discards => "waiting for discards on the device",
        Waiting::Writeback => "waiting for writeback",
        Waiting::Writes => "waiting for writes to the device",
        Waiting::Unknown => "waiting",
    };
    let queue_ns = totals.spent.run_queue_ns.unwrap_or_default() as f64;
    let general = [
        (TimeKind::Sync, "syncs", parts.sync_ns),
        (TimeKind::Lock, "waiting for locks", parts.lock_ns),
        (TimeKind::Wait, waited_for, parts.asleep_ns),
        (TimeKind::Kernel, "page faults", parts.faults_ns),
        (TimeKind::Kernel, "first use of memory", parts.first_touch_ns),
        (TimeKind::Kernel, "copying", parts.copying_ns),
        (TimeKind::Kernel, "clearing huge pages", parts.clearing_ns),
        (TimeKind::Kernel, "creating, renaming and removing files", parts.names_ns),
        (TimeKind::Kernel, "system calls", parts.calls_ns),
        (TimeKind::Program, "the program itself", parts.program_ns),
        (TimeKind::Processor, "kernel or program, not told apart", parts.processor_ns),
        (TimeKind::Queue, "waiting for a free processor", queue_ns),
    ];
    let own = totals.own_times.iter();
    let own = own.map(|own| (TimeKind::Study, own.cause.what.as_str(), own.time_ns));
    let known = general.into_iter().chain(own).filter(|(_, _, ns)| totals.share(*ns) >= SHARE_MIN);
    let mut known: Vec<TimePart> = known
        .map(|(kind, what, ns)| TimePart {
            kind,
            what: what.to_owned(),
            ns_per_op: totals.ns_per_op(ns),
        })
        .collect();
    known.sort_by(|a, b| a.kind.cmp(&b.kind).then(b.ns_per_op.total_cmp(&a.ns_per_op)));
    known
}

#[cfg(test)]
mod tests {
    use model::spent::Spent;

    use super::*;

    #[test]
    fn no_nanosecond_is_in_two_parts() {
        let spent = Spent {
            elapsed_ns: 1_000_000_000,
            user_ns: 200_000_000,
            system_ns: 300_000_000,
            sync_ns: 250_000_000,
            lock_ns: 50_000_000,
            run_queue_ns: Some(100_000_000),
            ..Spent::default()
        };
        let totals = ArmTotals { slices: 10, operations: 1000, spent, ..ArmTotals::default() };
        let parts = of_arm(&totals);
        let ns = |kind| parts.iter().filter(|p| p.kind == kind).map(|p| p.ns_per_op).sum::<f64>();
        let all: f64 = parts.iter().map(|part| part.ns_per_op).sum();
        assert!((all - 1e6).abs() < 1.0, "{all}: {parts:?}");
        assert!((ns(TimeKind::Sync) - 250e3).abs() < 1.0, "{parts:?}");
        assert!((ns(TimeKind::Queue) - 100e3).abs() < 1.0, "{parts:?}");
        assert!((ns(TimeKind::Program) - 200e3).abs() < 1.0, "{parts:?}");
    }
}
