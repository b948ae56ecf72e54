//! A second thread: of two arms that do the same I/O, the process of one has one thread, and that
//! of the other has more.
//!
//! Threads of a process share its table of open files. With one thread the kernel takes a file out
//! of the table as it is; with more it counts a reference to the file at each call, and locks the
//! position of one that is read and written there. This holds whatever the other threads do.

use std::collections::BTreeMap;

use model::analysis::Verdict;
use model::cause::{Cause, CauseCode, Scope};
use units::{capitalised, time};

use super::side::Side;
use crate::totals::all_calls;

/// What the second thread costs, where the arms differ in it and the verdict says so.
pub(super) fn between(base: Side, other: Side, verdict: Verdict) -> Option<Cause> {
    let is_same = base.totals.way == other.totals.way && base.totals.place == other.totals.place;
    let [single, several] = match (base.totals.threads, other.totals.threads) {
        (1, 2..) if is_same && verdict == Verdict::Slower => [base, other],
        (2.., 1) if is_same && verdict == Verdict::Faster => [other, base],
        _ => return None,
    };
    let more_ns = several.undisturbed_ns_per_op() - single.undisturbed_ns_per_op();
    if more_ns <= 0.0 {
        return None;
    }
    let calls = several.totals.spent.calls.map(all_calls);
    let calls_per_op = calls.map(|calls| several.totals.per_op(calls));
    let mut evidence = BTreeMap::from([("explained_ns_per_op".to_owned(), more_ns)]);
    evidence.extend(calls_per_op.map(|calls| ("calls_per_op".to_owned(), calls)));
    let text = format!(
        "{}, your process has more than one thread: {} per {}. The kernel then counts references \
         of a file and locks its position at each call, whatever the other threads do.",
        capitalised(several.label),
        time(more_ns),
        several.totals.operation
    );
    Some(Cause { code: CauseCode::SecondThread, scope: Scope::Arm, evidence, text })
}
