//! Whether a run lies far from the saved ones of the same: something disturbed it from end to end,
//! or changed since.

use model::analysis::{Comparison, OtherRuns};
use model::noise::{NoiseCode, NoiseSource};
use units::counted;

use super::source::source;

/// The distance from saved runs that is reported, in units of what they vary by. Undisturbed runs
/// exceed it once in 20 with one comparison, and once in thousands with forty.
const UNLIKE_MIN: f64 = 2.0;

/// A sentence on it.
pub(super) fn source_of(comparisons: &[Comparison]) -> Option<NoiseSource> {
    let told = comparisons.iter().filter_map(|comparison| comparison.other_runs);
    let OtherRuns { unlike_saved, learned_from, .. } =
        told.max_by_key(|other_runs| other_runs.learned_from)?;
    let times = unlike_saved.filter(|times| *times >= UNLIKE_MIN)?;
    Some(source(
        NoiseCode::UnlikeSaved,
        &[("unlike_saved", times), ("saved_runs", learned_from as f64)],
        format!(
            "This run is {times:.1} times as far from the last of {} as they are from one another: \
             something disturbed it, or changed since. Its intervals are wider for it.",
            counted(learned_from, "saved run"),
        ),
        "Run it again. If that run is like this one, something changed: `iotoll history --trend` \
         shows when, and what else did.",
    ))
}
