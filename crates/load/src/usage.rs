//! What this client itself uses.

use host::usage::{ThreadUse, of_thread};
use model::{counters::Counters as _, load::OwnUse};

/// What this thread has used since `before`, of which it polled for `spin_ns`.
pub(crate) fn until_now(before: ThreadUse, spin_ns: u64) -> OwnUse {
    let passed = of_thread().since(before);
    OwnUse {
        wall_ns: passed.wall_ns,
        cpu_ns: passed.cpu_ns,
        system_ns: passed.system_ns,
        spin_ns,
        delayed_ns: passed.run_queue_ns,
    }
}
