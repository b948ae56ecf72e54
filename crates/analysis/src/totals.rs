//! An arm's slices, added up.

use model::analysis::Modes;
use model::counters::{Level, sum};
use model::description::{CauseDescription, StudyDescription};
use model::place::PlaceFacts;
use model::probes::{Pressure, Residency, Surroundings};
use model::run::{ArmRecord, MemoryFloor, PlaceFloor, Run};
use model::scaling::THREADS;
use model::slice::{Deferred, Slice};
use model::spent::{Calls, Spent};

use crate::indexed::Indexed;
use crate::{figures, modes};

/// What an arm's slices took and went through, together. What one of the slices
/// does not know is not known of the arm.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArmTotals {
    /// What an operation is: `record`.
    pub(crate) operation: String,
    pub(crate) slices: u64,
    pub(crate) operations: u64,
    pub(crate) spent: Spent,
    pub(crate) deferred: Deferred,
    pub(crate) surroundings: Surroundings,
    /// The arm's time; nothing where the arm is judged by another figure.
    pub(crate) typical_ns: Option<f64>,
    /// Whether the arm is judged by another figure, such as how long replies take.
    pub(crate) is_scored: bool,
    /// Time that the study's own figures tell of.
    pub(crate) own_times: Vec<OwnTime>,
    /// Memory that was in use for the first time in the run, as far as free memory shows it.
    pub(crate) first_touched_bytes: u64,
    /// Memory that the slices took, first touched or not, at what its first touch cost then.
    pub(crate) taken: Taken,
    /// What touching memory costs on the machine.
    pub(crate) memory: Option<MemoryFloor>,
    /// The two times of its slices, where there are two.
    pub(crate) modes: Option<Modes>,
    /// What the arm's files stand on.
    pub(crate) place: Option<PlaceFacts>,
    /// What moving a cached page costs there.
    pub(crate) place_floor: Option<PlaceFloor>,
    /// Threads of the process in which one does the work.
    pub(crate) threads: u64,
    /// How the work is done, their number aside.
    pub(crate) way: String,
}

/// Memory that slices took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Taken {
    pub(crate) bytes: u64,
    /// What it would take beyond touching it again if all of it had to be found by a host, as
    /// measured in the stretches of the slices.
    pub(crate) first_more_ns: f64,
}

/// A page of the usual size.
const PAGE_BYTES: u64 = 4096;

/// Time that is a cause of a study's own.
#[derive(Clone, Debug)]
pub(crate) struct OwnTime {
    pub(crate) cause: CauseDescription,
    pub(crate) time_ns: f64,
}

/// Each arm's, in the order of the plan, as their times are.
pub(crate) fn of_arms(run: &Indexed<'_>, typical_times: &[Option<f64>]) -> Vec<ArmTotals> {
    let first_touched = first_touched(run);
    let arms = run.plan.arms.iter().enumerate();
    arms.map(|(index, arm)| {
        let slices: Vec<&Slice> = run.slices_of(index).collect();
        let study = run.study(&arm.study);
        let operation = study.map_or("operation", |study| &study.operation);
        let totals = ArmTotals::of(&slices, operation);
        let own_times = study.map_or_else(Vec::new, |study| own_times(run, index, study, &totals));
        let is_scored = slices.iter().any(|slice| slice.outcome.score_ns.is_some());
        ArmTotals {
            typical_ns: typical_times[index].filter(|_| !is_scored),
            is_scored,
            own_times,
            first_touched_bytes: first_touched[index],
            taken: taken(&slices, run.floor.memory),
            modes: modes::of(&slices),
            memory: run.floor.memory,
            place: run.places.get(arm.place).cloned(),
            place_floor: run.floor.places.get(arm.place).copied().flatten(),
            threads: threads(arm),
            way: way(arm),
            ..totals
        }
    })
    .collect()
}

/// By how much each arm's slices took free memory below what it had been since the run
/// began: memory that none of its slices can have had before. Others take memory as well,
/// so no more than what the slice itself can have taken counts.
fn first_touched(run: &Run) -> Vec<u64> {
    let mut touched = vec![0; run.plan.arms.len()];
    let mut lowest = None;
    for slice in &run.slices {
        let free = slice.surroundings.memory.and_then(|memory| memory.free_bytes);
        let Some(Level(free)) = free else { continue };
        let before = lowest.unwrap_or(free);
        if slice.block().is_some() {
            touched[slice.arm] += before.saturating_sub(free).min(taken_bytes(slice));
        }
        lowest = Some(before.min(free));
    }
    touched
}

/// What slices took: no more than anyone was given meanwhile.
fn taken(slices: &[&Slice], floor: Option<MemoryFloor>) -> Taken {
    let again_ns = floor.unwrap_or_default().again_ns;
    let mut taken = Taken::default();
    for slice in slices {
        let Some(memory) = slice.surroundings.memory else { continue };
        let most = memory.allocated_bytes.unwrap_or_default();
        let bytes = taken_bytes(slice).min(most);
        let first_ns = memory.first_touch_ns.map_or(0.0, |Level(ns)| ns as f64);
        taken.bytes = taken.bytes.saturating_add(bytes);
        taken.first_more_ns += bytes as f64 / PAGE_BYTES as f64 * (first_ns - again_ns).max(0.0);
    }
    taken
}

/// The memory that a slice can have taken: for its files, as far as these lie in it now and
/// did not before, and for pages that it touched.
fn taken_bytes(slice: &Slice) -> u64 {
    let cached = slice
        .surroundings
        .residency
        .map_or(0, |seen| seen.cached_bytes.saturating_sub(seen.cached_before_bytes));
    cached.saturating_add(slice.spent.minor_faults.saturating_mul(PAGE_BYTES))
}

fn own_times(
    run: &Indexed<'_>,
    arm: usize,
    study: &StudyDescription,
    totals: &ArmTotals,
) -> Vec<OwnTime> {
    let figures = figures::fold(run, arm, &study.figures);
    let known = study.causes.iter().filter_map(|cause| {
        let ns_per_op = figures.get(&cause.figure)?;
        let time_ns = ns_per_op * totals.operations as f64;
        Some(OwnTime { cause: cause.clone(), time_ns })
    });
    known.collect()
}

/// Its strategy and parameters but for the number of threads.
fn way(arm: &ArmRecord) -> String {
    let params = arm.params.iter().filter(|(name, _)| *name != THREADS);
    params.fold(arm.strategy.clone(), |way, (name, value)| format!("{way} {name}={value}"))
}

/// Threads of the process in which one does the work of an arm.
fn threads(arm: &ArmRecord) -> u64 {
    arm.params.get(THREADS).and_then(|threads| threads.parse().ok()).unwrap_or(1)
}

impl ArmTotals {
    /// Adds up an arm's slices.
    pub(crate) fn of(slices: &[&Slice], operation: &str) -> Self {
        Self {
            operation: operation.to_owned(),
            slices: slices.len() as u64,
            operations: slices.iter().map(|slice| slice.operations).sum(),
            spent: sum(slices
                .iter()
                .map(|slice| Spent { run_queue_ns: slice.spent.queued_ns(), ..slice.spent })),
            deferred: sum(slices.iter().map(|slice| slice.deferred)),
            surroundings: sum(slices.iter().map(|slice| surroundings(slice))),
            ..Self::default()
        }
    }

    /// A part of the whole, for each operation.
    pub(crate) fn per_op(&self, total: f64) -> f64 {
        total / self.operations.max(1) as f64
    }

    /// A kind of time for each operation: the same share of the time per operation as of
    /// all time that was spent.
    pub(crate) fn ns_per_op(&self, part_ns: f64) -> f64 {
        match self.typical_ns {
            Some(typical_ns) => share(part_ns, self.time_ns()) * typical_ns,
            None => self.per_op(part_ns),
        }
    }

    /// A part of the whole, for each slice.
    pub(crate) fn per_slice(&self, total: f64) -> f64 {
        total / self.slices.max(1) as f64
    }

    /// The workers' time, all together.
    pub(crate) fn time_ns(&self) -> f64 {
        self.spent.elapsed_ns as f64
    }

    /// A part of the workers' time, as a share of it.
    pub(crate) fn share(&self, part_ns: f64) -> f64 {
        share(part_ns, self.time_ns())
    }

    /// The workers' time without what they waited for a processor, which is
    /// others' doing.
    pub(crate) fn undisturbed_ns(&self) -> f64 {
        (self.time_ns() - self.spent.run_queue_ns.unwrap_or_default() as f64).max(0.0)
    }

    /// A part of that time, as a share of it.
    pub(crate) fn undisturbed_share(&self, part_ns: f64) -> f64 {
        share(part_ns, self.undisturbed_ns())
    }

    /// Time on processors.
    pub(crate) fn cpu_ns(&self) -> f64 {
        (self.spent.user_ns + self.spent.system_ns) as f64
    }

    /// All processors' time, whatever it went into.
    pub(crate) fn machine_ns(&self) -> Option<f64> {
        let cpus = self.surroundings.cpus?;
        Some((cpus.busy_ns + cpus.idle_ns + cpus.steal_ns) as f64)
    }

    /// The share of all processors' time that others had, kernel threads included.
    pub(crate) fn others_share(&self) -> Option<f64> {
        let busy_ns = self.surroundings.cpus?.busy_ns as f64;
        Some(share((busy_ns - self.cpu_ns()).max(0.0), self.machine_ns()?))
    }

    /// About how many processors there are, going by the time that they had.
    pub(crate) fn processors(&self) -> f64 {
        self.machine_ns().map_or(1.0, |all_ns| (all_ns / self.time_ns().max(1.0)).max(1.0))
    }

    /// Time that some task waited for storage and for memory: the control group's
    /// own where it has one, for what others wait for is not ours.
    pub(crate) fn pressure(&self) -> Option<Pressure> {
        self.surroundings.group_pressure.or(self.surroundings.pressure)
    }

    /// What was not yet on the device when the clock stopped.
    pub(crate) fn unwritten_bytes(&self) -> Option<f64> {
        self.surroundings.residency.map(|seen| seen.unwritten_bytes as f64)
    }

    /// What the devices were given to write while the clock ran.
    pub(crate) fn device_written_bytes(&self) -> Option<f64> {
        self.spent.device.map(|device| device.written_bytes as f64)
    }

    /// Whether the kernel can have told its own time from the program's. It looks
    /// every few milliseconds (4 at 250 Hz) and blames whoever it finds: a dozen
    /// looks tell most of the time from half of it, and slices much shorter than
    /// one are blamed for their neighbours.
    pub(crate) fn tells_kernel_from_program(&self) -> bool {
        const ALL_NS_MIN: f64 = 50e6;
        const SLICE_NS_MIN: f64 = 2e6;
        self.cpu_ns() >= ALL_NS_MIN && self.per_slice(self.cpu_ns()) >= SLICE_NS_MIN
    }

    /// Time in which the workers had given their processors up: neither running
    /// nor ready to run. What the hypervisor took looks the same, and is taken off.
    pub(crate) fn asleep_ns(&self) -> Option<f64> {
        let steal_ns = self.surroundings.cpus.map_or(0.0, |cpus| cpus.steal_ns as f64);
        let awake_ns = self.cpu_ns() + self.spent.run_queue_ns? as f64 + steal_ns;
        Some((self.time_ns() - awake_ns).max(0.0))
    }

    /// What the first touch of a page cost at the most, before the run or during it.
    pub(crate) fn first_touch_ns(&self) -> f64 {
        let during = self.surroundings.memory.and_then(|memory| memory.first_touch_ns);
        let before_ns = self.memory.map_or(0.0, |memory| memory.first_touch_ns);
        during.map_or(0.0, |Level(ns)| ns as f64).max(before_ns)
    }

    /// What calls moved.
    pub(crate) fn moved_bytes(&self) -> Option<f64> {
        self.spent.calls.map(|calls| (calls.read_bytes + calls.written_bytes) as f64)
    }
}

/// What calls of both kinds came to.
pub(crate) fn all_calls(calls: Calls) -> f64 {
    (calls.reads + calls.writes) as f64
}

/// What a slice was like. Pages are whole, and files are not.
fn surroundings(slice: &Slice) -> Surroundings {
    let residency = slice.surroundings.residency.map(|seen| Residency {
        unwritten_bytes: seen.unwritten_bytes.min(seen.file_bytes),
        ..seen
    });
    Surroundings { residency, ..slice.surroundings }
}

fn share(part_ns: f64, whole_ns: f64) -> f64 {
    if whole_ns > 0.0 { (part_ns / whole_ns).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use model::probes::MemoryTraffic;

    use super::*;
    use crate::testing;

    /// What a second slice touched first, that left so much free and had so much of its
    /// own files in memory, after one that had left 100 pages free.
    fn touched(free_pages: u64, cached_pages: u64, faults: u64) -> u64 {
        let slice = |arm, free_pages: u64, cached_pages: u64| {
            let mut slice = testing::slice(arm, 0);
            let free_bytes = Some(Level(free_pages * 4096));
            slice.surroundings.memory =
                Some(MemoryTraffic { free_bytes, ..MemoryTraffic::default() });
            let cached_bytes = cached_pages * 4096;
            slice.surroundings.residency = Some(Residency { cached_bytes, ..Residency::default() });
            slice
        };
        let mut second = slice(1, free_pages, cached_pages);
        second.spent.minor_faults = faults;
        first_touched(&testing::run(2, vec![slice(0, 100, 5), second]))[1] / 4096
    }

    #[test]
    fn memory_is_touched_first_where_less_is_free_than_ever_and_the_slice_took_it() {
        assert_eq!(touched(90, 10, 0), 10);
        assert_eq!(touched(90, 0, 10), 10);
        assert_eq!(touched(110, 10, 0), 0);
        // Others took the rest.
        assert_eq!(touched(50, 10, 0), 10);
        assert_eq!(touched(50, 0, 0), 0);
    }
}
