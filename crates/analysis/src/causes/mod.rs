//! What explains a time per operation, a difference or the absence of one.
//!
//! Pure functions over the readings around an arm's slices. Each cause is a
//! [`Rule`](rule::Rule): it weighs one arm's [`ArmTotals`] and says whether the evidence is
//! enough to name the cause, by a threshold that is written down with its
//! reason. A reading that could not be had names nothing. A study adds causes of
//! its own by saying which of its figures is time spent on what ([`own`]).
//! `docs/causes.md` tells the same to whoever reads a report.

mod break_even;
mod none_found;
mod own;
mod pair;
mod parts;
mod rule;
mod rules;
mod second_thread;
mod side;
mod small_pages;
mod time;
mod waiting;

use model::cause::Cause;

pub(crate) use self::break_even::of_pair as break_even;
pub(crate) use self::pair::of_pair;
use self::parts::Parts;
use self::rule::Weighed;
use self::rules::weigh;
pub(crate) use self::side::Side;
pub(crate) use self::time::of_arm as time_of_arm;
use crate::totals::ArmTotals;

/// What an arm's time went into, by itself, the largest share first.
pub(crate) fn of_arm(totals: &ArmTotals) -> Vec<Cause> {
    let mut named: Vec<Weighed> = weigh(totals, &Parts::of(totals))
        .into_iter()
        .filter(|weighed| weighed.finding.named)
        .collect();
    named.sort_by(|a, b| b.finding.share.total_cmp(&a.finding.share));
    named.iter().map(|weighed| weighed.cause(totals)).collect()
}

/// The share of an arm's time that it waited for its device at the most: in syncs, and asleep for
/// anything but a lock.
pub(crate) fn device_wait_share(totals: &ArmTotals) -> f64 {
    let parts = Parts::of(totals);
    totals.share(parts.sync_ns + parts.asleep_ns)
}

#[cfg(test)]
mod tests;
