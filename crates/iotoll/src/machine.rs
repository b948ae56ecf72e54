//! The machine that a run ran on.

use std::fs;
use std::thread::available_parallelism;
use std::time::Duration;

use engine::noise::{self, Reading};
use engine::probes::Usage;
use model::noise::Noise;
use model::run::Machine;

/// Watches for what disturbs a run from outside.
pub(crate) struct Watch {
    before: Reading,
    used: Usage,
}

impl Watch {
    /// Begins now.
    pub(crate) fn start() -> Self {
        Self { before: Reading::take(), used: Usage::now() }
    }

    /// What was seen so far.
    pub(crate) fn seen(&self) -> Noise {
        let used = Usage::now().since(self.used);
        let own_cpu = Duration::from_nanos(used.user_ns + used.system_ns);
        noise::between(&self.before, &Reading::take(), own_cpu)
    }
}

/// The machine.
pub(crate) fn describe() -> Machine {
    let memory = places::MemoryFacts::read().ok();
    let uname = rustix::system::uname();
    Machine {
        kernel: uname.release().to_string_lossy().into_owned(),
        cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
        cpus: available_parallelism().map_or(1, usize::from),
        memory_bytes: memory.as_ref().map_or(0, |m| m.total_bytes),
        memory_limit_bytes: memory.and_then(|m| m.limit).map(|limit| limit.limit_bytes),
    }
}

/// The value behind `name :` in one of the kernel's text files.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}
