//! The machine that a run ran on.

use engine::noise;
use host::machine::{kernel_release, processor_name, processors, read_now};
use host::memory::MemoryFacts;
use host::root::Root;
use model::noise::Noise;
use model::run::Machine;
use model::watch::MachineReading;

/// Watches for what disturbs a run from outside.
pub(crate) struct Watch {
    before: MachineReading,
}

impl Watch {
    /// Begins now.
    pub(crate) fn start() -> Self {
        Self { before: read_now() }
    }

    /// What was seen so far.
    pub(crate) fn seen(&self) -> Noise {
        let (mut before, mut after) = (self.before.clone(), read_now());
        MachineReading::keep_those_that_ran(&mut before, &mut after);
        noise::between(&before, &after)
    }
}

/// The machine.
pub(crate) fn describe() -> Machine {
    let root = Root::real();
    let memory = MemoryFacts::read(&root).ok();
    Machine {
        kernel: kernel_release(),
        cpu: processor_name(&root).unwrap_or_else(|| "unknown".to_owned()),
        cpus: processors().unwrap_or(1),
        memory_bytes: memory.as_ref().map_or(0, |m| m.total_bytes),
        memory_limit_bytes: memory.and_then(|m| m.limit).map(|limit| limit.limit_bytes),
    }
}
