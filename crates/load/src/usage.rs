//! What this client itself uses.

use host::usage::{ThreadUse, of_thread};
use model::counters::Counters as _;

/// What a step used of this process's own.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_field_names, reason = "the unit ends the name")]
pub(crate) struct OwnUse {
    pub(crate) wall_ns: u64,
    pub(crate) cpu_ns: u64,
    /// The part of it in the kernel.
    pub(crate) system_ns: u64,
    pub(crate) spin_ns: u64,
    /// Time spent ready to run while something else had the core.
    pub(crate) delayed_ns: u64,
}

/// This thread at some moment.
pub(crate) struct Usage(ThreadUse);

impl Usage {
    pub(crate) fn now() -> Self {
        Self(of_thread())
    }

    pub(crate) fn until_now(&self, spin_ns: u64) -> OwnUse {
        let passed = of_thread().since(self.0);
        OwnUse {
            wall_ns: passed.wall_ns,
            cpu_ns: passed.cpu_ns,
            system_ns: passed.system_ns,
            spin_ns,
            delayed_ns: passed.run_queue_ns,
        }
    }
}
