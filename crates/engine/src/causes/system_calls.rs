//! Dominated by system calls: the kernel's work for each call, whatever storage
//! is behind it.

use crate::causes::{BOUND, Finding, Role, Rule, Tally};

pub(super) const RULE: Rule = Rule {
    code: "system-calls",
    what: "the kernel's own work for each system call",
    weigh,
    role: Role::Cost,
};

/// Up to a page a call, the call itself costs more than moving its data; beyond
/// that, copying begins to count.
const BYTES_PER_CALL_MAX: f64 = 4096.0;

fn weigh(tally: &Tally) -> Option<Finding> {
    let calls = tally.calls.filter(|_| tally.tells_kernel_from_program())?;
    let share = tally.undisturbed_share(tally.system_ns);
    let calls_per_op = tally.per_op(calls.calls);
    let bytes_per_call = calls.bytes / calls.calls.max(1.0);
    Some(Finding {
        named: share >= BOUND && calls_per_op >= BOUND && bytes_per_call <= BYTES_PER_CALL_MAX,
        share,
        cost_ns_per_op: tally.per_op(tally.system_ns),
        evidence: vec![
            ("kernel_time_percent", share * 100.0),
            ("kernel_ns_per_op", tally.per_op(tally.system_ns)),
            // Opening, closing, locking and syncing are not counted by the kernel.
            ("read_and_write_calls_per_op", calls_per_op),
            ("bytes_per_call", bytes_per_call),
        ],
        detail: String::new(),
    })
}
