//! What this client itself uses.

use crate::{
    clock::{now_ns, thread_cpu_ns, thread_system_ns},
    procfs,
};

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

/// Clocks of this thread at some moment.
#[allow(clippy::struct_field_names, reason = "the unit ends the name")]
pub(crate) struct Usage {
    wall_ns: u64,
    cpu_ns: u64,
    system_ns: u64,
    delayed_ns: u64,
}

impl Usage {
    pub(crate) fn now() -> Self {
        Self {
            wall_ns: now_ns(),
            cpu_ns: thread_cpu_ns(),
            system_ns: thread_system_ns(),
            delayed_ns: procfs::thread_run_delay_ns(),
        }
    }

    pub(crate) fn until_now(&self, spin_ns: u64) -> OwnUse {
        let now = Self::now();
        OwnUse {
            wall_ns: now.wall_ns - self.wall_ns,
            cpu_ns: now.cpu_ns - self.cpu_ns,
            system_ns: now.system_ns.saturating_sub(self.system_ns),
            spin_ns,
            delayed_ns: now.delayed_ns.saturating_sub(self.delayed_ns),
        }
    }
}
