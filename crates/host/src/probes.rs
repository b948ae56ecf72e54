//! Readings taken around each slice.
//!
//! Files are opened once and read again with pread(2), so that a reading costs some
//! 50 µs, nearly all of it in the kernel, which takes 22 µs for `/proc/vmstat` alone.
//! The machine's figures are read outermost and
//! the process's own innermost, next to the clock, so that the readings are hardly part
//! of what they read. What cannot be opened is left out and said once
//! ([`Probes::unread`]).

use model::counters::Counters as _;
use model::probes::Surroundings;
use model::spent::Spent;

use crate::cgroup::GroupProbe;
use crate::cpu::CpuProbe;
use crate::pressure::PressureProbe;
use crate::root::Root;
use crate::vmstat::MemoryProbe;
pub use crate::workers::WorkerProbe;

/// What is read around a slice, opened.
#[derive(Debug)]
pub struct Probes {
    workers: WorkerProbe,
    cpus: Option<CpuProbe>,
    pressure: Option<PressureProbe>,
    memory: Option<MemoryProbe>,
    group: GroupProbe,
    unread: Vec<String>,
}

/// One reading of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Of the processes that do the slice's work: processor time, faults, switches, the
    /// wait for a processor, calls and storage traffic. The rest stays as it is by
    /// default.
    pub spent: Spent,
    /// Of the machine and its limits.
    pub surroundings: Surroundings,
}

impl Probes {
    /// Opens the files for this process, for its calling thread above all, and
    /// for other processes that do a slice's work.
    pub fn new(root: &Root, processes: &[u32]) -> Self {
        let mut unread = Vec::new();
        Self {
            workers: WorkerProbe::open(root, processes, &mut unread),
            cpus: CpuProbe::open(root, &mut unread),
            pressure: PressureProbe::machine(root, &mut unread),
            memory: MemoryProbe::open(root, &mut unread),
            group: GroupProbe::open(root, &mut unread),
            unread,
        }
    }

    /// What could not be opened, and what is not known for it.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// A reading to be taken before the clock starts.
    pub fn before(&self) -> Reading {
        let surroundings = self.surroundings();
        Reading { surroundings, spent: self.workers.before() }
    }

    /// A reading to be taken after the clock stopped.
    pub fn after(&self) -> Reading {
        let spent = self.workers.after();
        Reading { surroundings: self.surroundings(), spent }
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            residency: None,
            cpus: self.cpus.as_ref().and_then(CpuProbe::read),
            pressure: self.pressure.as_ref().and_then(PressureProbe::read),
            group_pressure: self.group.pressure(),
            memory: self.memory.as_ref().and_then(MemoryProbe::read),
            group: self.group.limits(),
        }
    }
}

impl Reading {
    /// What passed since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            spent: self.spent.since(earlier.spent),
            surroundings: self.surroundings.since(earlier.surroundings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn what_cannot_be_opened_is_said_once_and_left_out() {
        let probes = Probes::new(&Fixture::empty().root(), &[]);
        assert_eq!(probes.unread().len(), 6, "{:?}", probes.unread());
        let passed = probes.after().since(probes.before());
        assert_eq!(passed.surroundings, Surroundings::default());
        assert_eq!((passed.spent.calls, passed.spent.run_queue_ns), (None, None));
    }

    #[test]
    fn what_passes_between_two_readings_is_their_difference() {
        let fixture = Fixture::quiet();
        let probes = Probes::new(&fixture.root(), &[]);
        let before = probes.before();
        fixture.write("/proc/stat", "cpu  10007 0 2000 388000 100 0 10 2 0 0\n");
        fixture.write("/proc/vmstat", "nr_dirty 70\nnr_writeback 0\npswpin 8\npswpout 5\n");
        fixture.wrote(4096);
        let passed = probes.after().since(before);
        let cpus = passed.surroundings.cpus.unwrap_or_default();
        assert_eq!((cpus.busy_ns, cpus.steal_ns), (70_000_000, 20_000_000));
        let memory = passed.surroundings.memory.unwrap_or_default();
        let page = rustix::param::page_size() as u64;
        assert_eq!((memory.dirty_bytes.0, memory.swapped_in_bytes), (70 * page, 3 * page));
        let calls = passed.spent.calls.unwrap_or_default();
        assert_eq!(calls.storage_dirtied_bytes, 4096);
    }
}
