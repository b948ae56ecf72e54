//! Dominated by system calls: the kernel's work for each call, whatever storage
//! is behind it.

use super::rule::{BOUND, Finding, Role, Rule};
use crate::totals::ArmTotals;
use crate::totals::all_calls;
use model::cause::{CauseCode, Scope};

pub(super) const RULE: Rule = Rule {
    code: CauseCode::SystemCalls,
    what: "system call overhead in the kernel",
    weigh,
    role: Role::Cost,
    scope: Scope::Arm,
};

/// Up to a page a call, the call itself costs more than moving its data; beyond
/// that, copying begins to count.
const BYTES_PER_CALL_MAX: f64 = 4096.0;

fn weigh(totals: &ArmTotals) -> Option<Finding> {
    let calls = totals.spent.calls.filter(|_| totals.tells_kernel_from_program())?;
    let system_ns = totals.spent.system_ns as f64;
    let all_calls = all_calls(calls);
    let share = totals.undisturbed_share(system_ns);
    let calls_per_op = totals.per_op(all_calls);
    let bytes_per_call = (calls.read_bytes + calls.written_bytes) as f64 / all_calls.max(1.0);
    Some(Finding {
        named: share >= BOUND && calls_per_op >= BOUND && bytes_per_call <= BYTES_PER_CALL_MAX,
        share,
        cost_ns_per_op: totals.per_op(system_ns),
        evidence: vec![
            ("kernel_time_percent", share * 100.0),
            ("kernel_ns_per_op", totals.per_op(system_ns)),
            // Opening, closing, locking and syncing are not counted by the kernel.
            ("read_and_write_calls_per_op", calls_per_op),
            ("bytes_per_call", bytes_per_call),
        ],
        detail: String::new(),
    })
}
