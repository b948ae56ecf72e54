//! What explains a toll, a difference or the absence of one.
//!
//! Pure functions over the readings around an arm's slices. Each cause is a
//! [`Rule`](rule::Rule): it weighs one arm's [`ArmTotals`] and says whether the evidence is
//! enough to name the cause, by a threshold that is written down with its
//! reason. A reading that could not be had names nothing. A study adds causes of
//! its own by saying which of its figures is time spent on what ([`own`]).
//! `docs/causes.md` tells the same to whoever reads a report.

mod application_cpu;
mod bound_by_sync;
mod break_even;
mod copying;
mod device_discards;
mod first_touch;
mod memory_pressure;
mod metadata;
mod none_found;
mod outside_noise;
mod own;
mod page_cache;
mod page_faults;
mod pair;
mod parts;
mod processor_time;
mod reads_from_device;
mod rule;
mod rules;
mod side;
mod small_pages;
mod system_calls;
mod throttled_writeback;
mod time;
mod waiting;
mod waiting_for_lock;
mod writes_to_device;

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

#[cfg(test)]
mod tests;
