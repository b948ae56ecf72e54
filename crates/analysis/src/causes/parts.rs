//! Where an arm's time went: every nanosecond in one part at most, so that the shares
//! of an arm add up to no more than the whole.
//!
//! Time in calls that force data to the device is theirs, asleep or not. Beyond that,
//! time asleep is told apart by what the slices read, wrote and discarded meanwhile,
//! and time in the kernel by what is known of its work: page faults, memory used for the
//! first time, pages moved, names changed. What is left of it is work for each call.

use model::arm::Axis;
use model::run::PlaceFloor;

use super::waiting::{Waiting, waited_for};
use crate::totals::{ArmTotals, all_calls};

/// From so many bytes a call on, the call itself costs less than a tenth of moving them.
const MOVES_BYTES: f64 = 16384.0;
/// Fewer names changed per operation than this are not what the operation does.
const CHANGES_NAMES: f64 = 0.5;
/// Others that have less than this of the processors take no memory worth mentioning.
const OTHERS_MAX: f64 = 0.1;
/// A page of the usual size.
pub(super) const PAGE_BYTES: f64 = 4096.0;

/// The parts, in nanoseconds of all slices together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts {
    /// In calls that force data to the device.
    pub(super) sync_ns: f64,
    /// Asleep in calls that take a lock.
    pub(super) lock_ns: f64,
    /// Asleep otherwise.
    pub(super) asleep_ns: f64,
    /// What that was for, by the evidence.
    pub(super) waited_for: Waiting,
    /// In the kernel, for page faults.
    pub(super) faults_ns: f64,
    /// In the kernel, for memory that was used for the first time.
    pub(super) first_touch_ns: f64,
    /// In the kernel, for each byte moved.
    pub(super) copying_ns: f64,
    /// In the kernel, for clearing what files leave unused of huge pages.
    pub(super) clearing_ns: f64,
    /// In the kernel, for names: creating, renaming, removing.
    pub(super) names_ns: f64,
    /// In the kernel, for each call.
    pub(super) calls_ns: f64,
    /// In the program.
    pub(super) program_ns: f64,
    /// On a processor, where the kernel's part cannot be told from the program's.
    pub(super) processor_ns: f64,
}

impl Parts {
    /// An arm's by itself.
    pub(super) fn of(totals: &ArmTotals) -> Self {
        let program_ns = totals.tells_kernel_from_program().then_some(totals.spent.user_ns as f64);
        Self::with_program(totals, program_ns)
    }

    /// Those of two arms that are compared. The same program does the same at both of
    /// two places, so its own time is that of the side that can tell, and the lesser of
    /// both if both can: what more there is on a processor is the kernel's.
    pub(super) fn of_pair(base: &ArmTotals, other: &ArmTotals, axis: Axis) -> [Self; 2] {
        if axis != Axis::Place {
            return [Self::of(base), Self::of(other)];
        }
        let told = [base, other].into_iter().filter(|arm| arm.tells_kernel_from_program());
        let program_ns_per_op =
            told.map(|arm| arm.ns_per_op(arm.spent.user_ns as f64)).reduce(f64::min).unwrap_or(0.0);
        [base, other]
            .map(|arm| Self::with_program(arm, Some(program_ns_per_op * arm.operations as f64)))
    }

    /// Time asleep, if it was for this.
    pub(super) fn waiting_ns(&self, what: Waiting) -> f64 {
        if self.waited_for == what { self.asleep_ns } else { 0.0 }
    }

    /// With the program's own time, where that is known.
    fn with_program(totals: &ArmTotals, program_ns: Option<f64>) -> Self {
        let whole_ns = totals.undisturbed_ns();
        let cpu_ns = totals.cpu_ns().min(whole_ns);
        let spent = &totals.spent;
        // Where it is not known who waited for a processor, what was not spent on one
        // was spent asleep at the most.
        let not_running_ns = whole_ns - cpu_ns;
        let asleep_ns = totals.asleep_ns().unwrap_or(not_running_ns).min(not_running_ns);

        let sync_ns = (spent.sync_ns as f64).min(cpu_ns + asleep_ns);
        let sync_asleep_ns = sync_ns.min(asleep_ns);
        let cpu_ns = cpu_ns - (sync_ns - sync_asleep_ns);
        let asleep_ns = asleep_ns - sync_asleep_ns;
        let lock_ns = (spent.lock_ns as f64).min(asleep_ns);
        let parts = Self {
            sync_ns,
            lock_ns,
            asleep_ns: asleep_ns - lock_ns,
            waited_for: waited_for(totals, asleep_ns - lock_ns),
            ..Self::default()
        };
        let parts = match program_ns.map(|ns| ns.min(cpu_ns)) {
            Some(program_ns) => {
                Self { program_ns, ..parts }.with_kernel(totals, cpu_ns - program_ns)
            }
            None => Self { processor_ns: cpu_ns, ..parts },
        };
        parts.beside_own_time(totals)
    }

    /// With the kernel's time, by what it did.
    fn with_kernel(self, totals: &ArmTotals, kernel_ns: f64) -> Self {
        let mut left_ns = kernel_ns;
        let mut take = |wanted_ns: f64| {
            let taken_ns = wanted_ns.clamp(0.0, left_ns);
            left_ns -= taken_ns;
            taken_ns
        };
        let memory = totals.memory.unwrap_or_default();
        let faults = totals.spent.minor_faults as f64;
        let first_ns = (memory.first_touch_ns - memory.again_ns).max(0.0);
        // Where others are busy, the memory that went may have been theirs.
        let quiet = totals.others_share().is_some_and(|share| share < OTHERS_MAX);
        let touched = if quiet { totals.first_touched_bytes as f64 / PAGE_BYTES } else { 0.0 };
        let names = totals.per_op(totals.spent.name_changes as f64) >= CHANGES_NAMES;
        let calls = totals.spent.calls.map_or(0.0, all_calls).max(1.0);
        let moves = totals.moved_bytes().is_some_and(|bytes| bytes / calls >= MOVES_BYTES);
        let by_page_ns = moving_ns(totals).unwrap_or(0.0);
        let bare_ns = faults * memory.fault_ns;
        // Memory that a host took back costs as much again, though it was used before: no more
        // of it than what the pages take beyond what they cost before the run.
        let beyond_ns = (kernel_ns - by_page_ns - bare_ns).max(0.0);
        let again = if moves && !names { totals.taken.first_more_ns.min(beyond_ns) } else { 0.0 };
        let first_touch_ns = take((touched * first_ns).max(again));
        let faults_ns = take(bare_ns);
        let clearing_ns = take(clearing_ns(totals, kernel_ns - faults_ns - by_page_ns));
        let copying_ns = take(if moves && !names { f64::INFINITY } else { by_page_ns });
        // A mapped file's work is done in its faults, whatever more than a bare fault they
        // take.
        let by_faults = faults > calls.max(totals.operations as f64);
        let parts = Self { faults_ns, first_touch_ns, copying_ns, clearing_ns, ..self };
        if names {
            Self { names_ns: left_ns, ..parts }
        } else if by_faults {
            Self { faults_ns: faults_ns + left_ns, ..parts }
        } else {
            Self { calls_ns: left_ns, ..parts }
        }
    }

    /// Time that the study itself accounts for may be of any kind; the rest shares what
    /// it leaves.
    fn beside_own_time(self, totals: &ArmTotals) -> Self {
        let own_ns: f64 = totals.own_times.iter().map(|own| own.time_ns).sum();
        let left = 1.0 - totals.undisturbed_share(own_ns);
        Self {
            sync_ns: self.sync_ns * left,
            lock_ns: self.lock_ns * left,
            asleep_ns: self.asleep_ns * left,
            waited_for: self.waited_for,
            faults_ns: self.faults_ns * left,
            first_touch_ns: self.first_touch_ns * left,
            copying_ns: self.copying_ns * left,
            clearing_ns: self.clearing_ns * left,
            names_ns: self.names_ns * left,
            calls_ns: self.calls_ns * left,
            program_ns: self.program_ns * left,
            processor_ns: self.processor_ns * left,
        }
    }
}

/// What is done with cached pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageWork {
    Reading,
    Writing,
    Freeing,
}

impl PageWork {
    pub(super) const ALL: [Self; 3] = [Self::Reading, Self::Writing, Self::Freeing];

    /// With how many pages the arm did this. What it freed is what its files had in memory
    /// before and not after.
    pub(super) fn pages(self, totals: &ArmTotals) -> Option<f64> {
        let calls = totals.spent.calls?;
        let bytes = match self {
            Self::Reading => calls.read_bytes,
            Self::Writing => calls.written_bytes,
            Self::Freeing => totals
                .surroundings
                .residency
                .map_or(0, |seen| seen.cached_before_bytes.saturating_sub(seen.cached_bytes)),
        };
        Some(bytes as f64 / PAGE_BYTES)
    }

    /// What one took at the arm's place before the run.
    pub(super) fn ns_per_page(self, floor: &PlaceFloor) -> f64 {
        match self {
            Self::Reading => floor.read_ns_per_page,
            Self::Writing => floor.write_ns_per_page,
            Self::Freeing => floor.free_ns_per_page,
        }
    }

    /// What all of them take by that.
    pub(super) fn ns(self, totals: &ArmTotals) -> Option<f64> {
        Some(self.pages(totals)? * self.ns_per_page(totals.place_floor.as_ref()?))
    }
}

/// A huge page, in pages of the usual size.
pub(super) const HUGE_PAGES: f64 = 512.0;
/// A page that is cleared as part of a huge one costs less than this share of one by itself, or
/// no huge ones were had when it was measured.
const HUGE_COST_MAX: f64 = 0.5;

/// The pages of huge ones that the arm's files in memory were given, and that hold nothing: the
/// kernel clears them all.
pub(super) fn cleared_pages(totals: &ArmTotals) -> Option<f64> {
    let is_tmpfs = totals.place.as_ref()?.filesystem == "tmpfs";
    let given = totals.surroundings.memory?.huge_file_pages?;
    let written = totals.spent.calls?.written_bytes as f64 / PAGE_BYTES;
    is_tmpfs.then(|| (given as f64 * HUGE_PAGES - written).max(0.0))
}

/// Creating, renaming or removing a file in memory takes the kernel no longer than this.
const NAME_IN_MEMORY_NS: f64 = 10_000.0;

/// What that takes of so much time in the kernel: what clearing cost before the run, and where a
/// host has to find the pages first, all but what the names may take.
fn clearing_ns(totals: &ArmTotals, kernel_ns: f64) -> f64 {
    let floor = totals.memory.unwrap_or_default();
    let each_ns = floor.huge_clear_ns.filter(|ns| *ns < floor.again_ns * HUGE_COST_MAX);
    let Some((each_ns, pages)) = each_ns.zip(cleared_pages(totals)) else { return 0.0 };
    let beyond_names_ns = kernel_ns - totals.spent.name_changes as f64 * NAME_IN_MEMORY_NS;
    let found_ns = pages * totals.first_touch_ns();
    (pages * each_ns).max(found_ns.min(beyond_names_ns))
}

/// What the arm's pages take by what a cached page cost at its place before the run.
pub(super) fn moving_ns(totals: &ArmTotals) -> Option<f64> {
    PageWork::ALL.into_iter().map(|work| work.ns(totals)).sum()
}
