//! An arm's readings, summed over its slices.

use model::probes::{Calls, CpuTimes, GroupLimits, MemoryTraffic, Pressure, Residency};
use model::sample::Sample;

/// What an arm's slices took and went through, together. A figure is `None`
/// where one of the slices lacks it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// What an operation is: `record`.
    pub(crate) operation: &'static str,
    pub(crate) slices: f64,
    pub(crate) operations: f64,
    /// The workers' time, all together.
    pub(crate) time_ns: f64,
    pub(crate) user_ns: f64,
    pub(crate) system_ns: f64,
    pub(crate) sync_ns: f64,
    pub(crate) sync_calls: f64,
    pub(crate) lock_ns: f64,
    pub(crate) lock_calls: f64,
    pub(crate) deferred_sync_ns: f64,
    pub(crate) requested_bytes: f64,
    pub(crate) device_written_bytes: Option<f64>,
    pub(crate) device_deferred_bytes: Option<f64>,
    pub(crate) major_faults: f64,
    pub(crate) run_queue_ns: Option<f64>,
    pub(crate) calls: Option<CallsTally>,
    pub(crate) residency: Option<ResidencyTally>,
    pub(crate) cpus: Option<CpusTally>,
    pub(crate) pressure: Option<PressureTally>,
    pub(crate) memory: Option<MemoryTally>,
    /// How long the control group was kept from running.
    pub(crate) throttled_ns: Option<f64>,
    pub(crate) memory_limit_hits: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallsTally {
    pub(crate) calls: f64,
    pub(crate) bytes: f64,
    pub(crate) written_bytes: f64,
    pub(crate) storage_read_bytes: f64,
    pub(crate) storage_dirtied_bytes: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResidencyTally {
    pub(crate) cached_before_bytes: f64,
    pub(crate) unwritten_bytes: f64,
}

#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_field_names, reason = "the unit stays in the name")]
pub(crate) struct CpusTally {
    pub(crate) busy_ns: f64,
    pub(crate) steal_ns: f64,
    /// All processors' time, whatever it went into.
    pub(crate) all_ns: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PressureTally {
    pub(crate) io_ns: f64,
    pub(crate) memory_ns: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryTally {
    /// The most that waited to be written back when a slice ended.
    pub(crate) dirty_bytes_max: f64,
    pub(crate) dirty_limit_bytes: f64,
    pub(crate) swapped_bytes: f64,
    pub(crate) refaulted_bytes: f64,
}

impl Tally {
    /// Sums an arm's samples.
    pub(crate) fn of(samples: &[&Sample], operation: &'static str) -> Self {
        let sum = |field: fn(&Sample) -> u64| samples.iter().map(|s| field(s) as f64).sum::<f64>();
        let known = |field: fn(&Sample) -> Option<u64>| {
            samples.iter().map(|s| field(s).map(|n| n as f64)).sum::<Option<f64>>()
        };
        Self {
            operation,
            slices: samples.len() as f64,
            operations: sum(|s| s.operations),
            time_ns: sum(|s| s.elapsed_ns),
            user_ns: sum(|s| s.user_ns),
            system_ns: sum(|s| s.system_ns),
            sync_ns: sum(|s| s.sync_ns),
            sync_calls: sum(|s| s.sync_calls),
            lock_ns: sum(|s| s.lock_ns),
            lock_calls: sum(|s| s.lock_calls),
            deferred_sync_ns: sum(|s| s.deferred_sync_ns),
            requested_bytes: sum(|s| s.requested_bytes),
            device_written_bytes: known(|s| s.device_written_bytes),
            device_deferred_bytes: known(|s| s.device_deferred_bytes),
            major_faults: sum(|s| s.probes.major_faults),
            run_queue_ns: known(run_queue_ns),
            calls: all(samples, |s| s.probes.calls, CallsTally::and),
            residency: all(samples, |s| s.probes.residency, ResidencyTally::and),
            cpus: all(samples, |s| s.probes.cpus, CpusTally::and),
            // The group's own where it has one: what others wait for is not ours.
            pressure: all(samples, |s| s.probes.group_pressure, PressureTally::and)
                .or_else(|| all(samples, |s| s.probes.pressure, PressureTally::and)),
            memory: all(samples, |s| s.probes.memory, MemoryTally::and),
            throttled_ns: known(|s| s.probes.group.and_then(|g: GroupLimits| g.throttled_ns)),
            memory_limit_hits: known(|s| s.probes.group.and_then(|g| g.memory_limit_hits)),
        }
    }

    pub(crate) fn per_op(&self, total: f64) -> f64 {
        total / self.operations.max(1.0)
    }

    pub(crate) fn per_slice(&self, total: f64) -> f64 {
        total / self.slices.max(1.0)
    }

    /// A part of the workers' time, as a share of it.
    pub(crate) fn share(&self, part_ns: f64) -> f64 {
        share(part_ns, self.time_ns)
    }

    /// The workers' time without what they waited for a processor, which is
    /// others' doing.
    pub(crate) fn undisturbed_ns(&self) -> f64 {
        (self.time_ns - self.run_queue_ns.unwrap_or_default()).max(0.0)
    }

    /// About how many processors there are, going by the time that they had.
    pub(crate) fn processors(&self) -> f64 {
        self.cpus.map_or(1.0, |cpus| (cpus.all_ns / self.time_ns.max(1.0)).max(1.0))
    }

    /// Whether the kernel can have told its own time from the program's. It looks
    /// every few milliseconds (4 at 250 Hz) and blames whoever it finds: a dozen
    /// looks tell most of the time from half of it, and slices much shorter than
    /// one are blamed for their neighbours.
    pub(crate) fn tells_kernel_from_program(&self) -> bool {
        const ALL_NS_MIN: f64 = 50e6;
        const SLICE_NS_MIN: f64 = 2e6;
        let cpu_ns = self.user_ns + self.system_ns;
        cpu_ns >= ALL_NS_MIN && self.per_slice(cpu_ns) >= SLICE_NS_MIN
    }

    /// A part of that time, as a share of it.
    pub(crate) fn undisturbed_share(&self, part_ns: f64) -> f64 {
        share(part_ns, self.undisturbed_ns())
    }

    /// Time in which the workers had given their processors up: neither running
    /// nor ready to run. What the hypervisor took looks the same, and is taken off.
    pub(crate) fn asleep_ns(&self) -> Option<f64> {
        let steal_ns = self.cpus.map_or(0.0, |cpus| cpus.steal_ns);
        let awake_ns = self.user_ns + self.system_ns + self.run_queue_ns? + steal_ns;
        Some((self.time_ns - awake_ns).max(0.0))
    }

    /// Time asleep that neither syncs nor locks account for. These are taken off
    /// whole, though part of them was spent running, so this is rather too little.
    pub(crate) fn waiting_ns(&self) -> Option<f64> {
        Some((self.asleep_ns()? - self.sync_ns - self.lock_ns).max(0.0))
    }
}

/// A slice that lost its processor just outside the timed span has that in its
/// readings as well, and cannot have lost more time than it had.
fn run_queue_ns(sample: &Sample) -> Option<u64> {
    let left_ns = sample.elapsed_ns.saturating_sub(sample.user_ns + sample.system_ns);
    sample.probes.run_queue_ns.map(|queued_ns| queued_ns.min(left_ns))
}

fn share(part_ns: f64, whole_ns: f64) -> f64 {
    if whole_ns > 0.0 { (part_ns / whole_ns).clamp(0.0, 1.0) } else { 0.0 }
}

fn all<T, S: Default>(
    samples: &[&Sample],
    field: fn(&Sample) -> Option<T>,
    and: fn(S, T) -> S,
) -> Option<S> {
    let first = S::default();
    samples.iter().try_fold(first, |sum, sample| Some(and(sum, field(sample)?)))
}

impl CallsTally {
    fn and(self, seen: Calls) -> Self {
        Self {
            calls: self.calls + (seen.reads + seen.writes) as f64,
            bytes: self.bytes + (seen.read_bytes + seen.written_bytes) as f64,
            written_bytes: self.written_bytes + seen.written_bytes as f64,
            storage_read_bytes: self.storage_read_bytes + seen.storage_read_bytes as f64,
            storage_dirtied_bytes: self.storage_dirtied_bytes + seen.storage_dirtied_bytes as f64,
        }
    }
}

impl ResidencyTally {
    fn and(self, seen: Residency) -> Self {
        Self {
            cached_before_bytes: self.cached_before_bytes + seen.cached_before_bytes as f64,
            // Pages are whole, and files are not.
            unwritten_bytes: self.unwritten_bytes
                + seen.unwritten_bytes.min(seen.file_bytes) as f64,
        }
    }
}

impl CpusTally {
    fn and(self, seen: CpuTimes) -> Self {
        Self {
            busy_ns: self.busy_ns + seen.busy_ns as f64,
            steal_ns: self.steal_ns + seen.steal_ns as f64,
            all_ns: self.all_ns + (seen.busy_ns + seen.idle_ns + seen.steal_ns) as f64,
        }
    }
}

impl PressureTally {
    fn and(self, seen: Pressure) -> Self {
        Self {
            io_ns: self.io_ns + seen.io_some_ns as f64,
            memory_ns: self.memory_ns + seen.memory_some_ns as f64,
        }
    }
}

impl MemoryTally {
    fn and(self, seen: MemoryTraffic) -> Self {
        let dirty_bytes = (seen.dirty_bytes.0 + seen.writeback_bytes.0) as f64;
        Self {
            dirty_bytes_max: self.dirty_bytes_max.max(dirty_bytes),
            dirty_limit_bytes: seen.dirty_limit_bytes.0 as f64,
            swapped_bytes: self.swapped_bytes
                + (seen.swapped_in_bytes + seen.swapped_out_bytes) as f64,
            refaulted_bytes: self.refaulted_bytes + seen.refaulted_bytes as f64,
        }
    }
}
