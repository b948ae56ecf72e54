//! Readings taken around each slice.
//!
//! Files are opened once and read again with pread(2), so that a reading costs
//! some 30 µs. The machine's figures are read outermost and the process's own
//! innermost, next to the clock, so that the readings are hardly part of what
//! they read. What cannot be opened is left out and said once ([`Probes::unread`]).

mod cpus;
mod file;
mod group;
mod memory;
mod pressure;
mod residency;
mod usage;
mod workers;

use model::counters::Counters as _;
use model::probes::{CpuTimes, GroupLimits, MemoryTraffic, Pressure};
pub use residency::residency;
pub use usage::Usage;
pub use workers::{WorkerProbe, WorkerReading};

use crate::probes::cpus::CpuProbe;
use crate::probes::group::GroupProbe;
use crate::probes::memory::MemoryProbe;
use crate::probes::pressure::PressureProbe;

/// What is read around a slice, opened.
pub struct Probes {
    workers: WorkerProbe,
    cpus: Option<CpuProbe>,
    pressure: Option<PressureProbe>,
    memory: Option<MemoryProbe>,
    group: GroupProbe,
    unread: Vec<String>,
}

/// One reading of all.
#[derive(Clone, Copy)]
pub struct Reading {
    workers: WorkerReading,
    machine: MachineReading,
}

#[derive(Clone, Copy)]
struct MachineReading {
    cpus: Option<CpuTimes>,
    pressure: Option<Pressure>,
    memory: Option<MemoryTraffic>,
    group_pressure: Option<Pressure>,
    group: Option<GroupLimits>,
}

impl Probes {
    /// Opens the files for this process, for its calling thread above all, and
    /// for other processes that do a slice's work.
    pub fn new(processes: &[u32]) -> Self {
        let mut unread = Vec::new();
        Self {
            workers: WorkerProbe::open(processes, &mut unread),
            cpus: CpuProbe::open(&mut unread),
            pressure: PressureProbe::machine(&mut unread),
            memory: MemoryProbe::open(&mut unread),
            group: GroupProbe::open(&mut unread),
            unread,
        }
    }

    /// What could not be opened, and what is not known for it.
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// A reading to be taken before the clock starts.
    pub fn before(&self) -> Reading {
        let machine = self.machine();
        Reading { machine, workers: self.workers.before() }
    }

    /// A reading to be taken after the clock stopped.
    pub fn after(&self) -> Reading {
        let workers = self.workers.after();
        Reading { machine: self.machine(), workers }
    }

    fn machine(&self) -> MachineReading {
        MachineReading {
            cpus: self.cpus.as_ref().and_then(CpuProbe::read),
            pressure: self.pressure.as_ref().and_then(PressureProbe::read),
            memory: self.memory.as_ref().and_then(MemoryProbe::read),
            group_pressure: self.group.pressure(),
            group: self.group.limits(),
        }
    }
}

impl Reading {
    /// The processor time between two readings.
    pub fn usage_since(&self, before: &Self) -> Usage {
        self.workers.usage.since(before.workers.usage)
    }

    /// What passed between two readings.
    pub fn since(&self, before: &Self) -> model::probes::Probes {
        let workers = self.workers.since(before.workers);
        let usage = workers.usage;
        let (now, then) = (&self.machine, &before.machine);
        model::probes::Probes {
            calls: workers.calls,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            run_queue_ns: workers.run_queue_ns,
            residency: None,
            cpus: now.cpus.since(then.cpus),
            pressure: now.pressure.since(then.pressure),
            group_pressure: now.group_pressure.since(then.group_pressure),
            memory: now.memory.since(then.memory),
            group: now.group.since(then.group),
        }
    }
}

/// What the devices behind a place have read and written so far, for anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBytes {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

impl DeviceBytes {
    /// What passed between two readings, where there are both.
    pub fn between(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        let (before, after) = before.zip(after)?;
        Some(Self {
            read: after.read.saturating_sub(before.read),
            written: after.written.saturating_sub(before.written),
        })
    }
}
