//! Changes during the run: times that drifted, and arms after which others took more or less
//! time.

use units::time;

use crate::difference;
use crate::subject::Subject;
use crate::text::{Width, list, shortened_list};

/// More lines than this would not be read; the rest is in the result file.
const LINES_MAX: usize = 6;

/// Less than this carried over to the next slice is nothing that anyone could act on.
const CARRIED_MIN: f64 = 0.01;

/// The section; nothing where all was steady.
pub(crate) fn section(subject: Subject, width: Width) -> String {
    list("Changes during the run", &shortened_list(sentences(subject), LINES_MAX), width)
}

/// A sentence for each change.
pub(crate) fn sentences(Subject { analysis, .. }: Subject) -> Vec<String> {
    let drifted = analysis.arms.iter().filter_map(|arm| {
        let drift = arm.drift.as_ref()?;
        let why = drift.why.as_ref().map_or_else(String::new, |why| format!(": by {why}"));
        Some(format!(
            "The time of {} drifted from {} at the first round to {} at the last{why}",
            arm.id,
            time(drift.start_ns),
            time(drift.end_ns)
        ))
    });
    let telling = analysis.carry_over.iter().filter(|c| c.ratio.ln().abs() >= CARRIED_MIN);
    let carried = telling.map(|carried| {
        let against = difference::against(carried.ratio);
        format!("A slice that runs right after one of {} {against} a usual one", carried.after)
    });
    drifted.chain(carried).collect()
}
