//! No cause found: two arms differ, and nothing that was looked at explains it. What was
//! looked at is said, so that the silence is no riddle.

use std::collections::BTreeMap;

use model::analysis::Verdict;
use model::cause::{Cause, CauseCode, Scope};
use units::time;

use super::parts::Parts;
use super::side::Side;
use super::waiting::Waiting;
use crate::totals::ArmTotals;

/// More of the difference than this was spent asleep, for it to be worth telling.
const ASLEEP_TOLD: f64 = 0.1;

/// Says of two arms that differ that no cause was found.
pub(super) fn cause(base: Side, other: Side, parts: &[Parts; 2], verdict: Verdict) -> Cause {
    let difference_ns = other.undisturbed_ns_per_op() - base.undisturbed_ns_per_op();
    let asleep_ns = slept_ns(other, &parts[1]).zip(slept_ns(base, &parts[0])).map(|(o, b)| o - b);
    let mut evidence = BTreeMap::from([("difference_ns_per_op".to_owned(), difference_ns)]);
    evidence.extend(asleep_ns.map(|ns| ("asleep_difference_ns_per_op".to_owned(), ns)));
    let agrees = (difference_ns > 0.0) == (verdict == Verdict::Slower);
    let text = format!(
        "No cause was found for the difference{}. These were checked: {LOOKED_AT}.{}{}",
        size(base, difference_ns, agrees),
        asleep(difference_ns, asleep_ns.unwrap_or_default()),
        unread(base, other)
    );
    Cause { code: CauseCode::NoneFound, scope: Scope::Arm, evidence, text }
}

/// How large it is, of time that nobody else took. That may go against the verdict: it is
/// a sum, in which a few disturbed slices outweigh all others, and the verdict rests on
/// the blocks' ratios.
fn size(base: Side, difference_ns: f64, agrees: bool) -> String {
    if agrees {
        return format!(" of {} per {}", time(difference_ns.abs()), base.totals.operation);
    }
    ", which shows when each round is compared by itself, but not in the total time of all slices"
        .to_owned()
}

const LOOKED_AT: &str = "syncs, locks, the device's reads, writeback and discards, the kernel's \
                         work (calls, copying, names, page faults), the program's CPU time, memory \
                         and other programs";

/// Asleep for no reason that is known, per operation; nothing where it is not known either.
fn slept_ns(side: Side, parts: &Parts) -> Option<f64> {
    side.totals.asleep_ns()?;
    Some(side.totals.ns_per_op(parts.waiting_ns(Waiting::Unknown)))
}

fn asleep(difference_ns: f64, asleep_ns: f64) -> String {
    if asleep_ns / difference_ns < ASLEEP_TOLD {
        return String::new();
    }
    format!(
        " {} of it was spent sleeping, and no counter shows what it was waiting for.",
        time(asleep_ns.abs())
    )
}

/// What one of the arms could not tell.
fn unread(base: Side, other: Side) -> String {
    let any = |lacks: fn(&ArmTotals) -> bool| lacks(base.totals) || lacks(other.totals);
    let calls = any(|arm| arm.spent.calls.is_none()).then_some("calls and bytes");
    let waits = any(|arm| arm.spent.run_queue_ns.is_none()).then_some("waiting for a CPU");
    let missing: Vec<&str> = [calls, waits].into_iter().flatten().collect();
    if missing.is_empty() {
        return String::new();
    }
    format!(" Could not be checked here: {}.", missing.join(" and "))
}
