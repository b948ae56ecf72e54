//! Two modes: the slices take one of two times, far apart, so that neither a mean nor a median
//! describes them.

use units::{percent, time};

use crate::causes::parts::Parts;
use crate::causes::rule::Finding;
use crate::totals::ArmTotals;

pub(super) fn weigh(totals: &ArmTotals, _parts: &Parts) -> Option<Finding> {
    let modes = totals.modes.as_ref()?;
    let slow_share = 1.0 - modes.fast_share;
    let why = modes.why.as_ref().map_or_else(String::new, |why| format!("; {why} differs"));
    let detail = format!(
        "slices come in two modes: {} ({}) and {} ({}) per {}{why}",
        time(modes.fast_ns),
        percent(modes.fast_share),
        time(modes.slow_ns),
        percent(slow_share),
        totals.operation
    );
    let evidence = [
        ("fast_ns_per_op", modes.fast_ns),
        ("slow_ns_per_op", modes.slow_ns),
        ("slow_slices_percent", slow_share * 100.0),
    ];
    Some(Finding::of_state(true, slow_share, detail).with(evidence))
}
