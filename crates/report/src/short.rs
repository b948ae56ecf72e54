//! A run in a few words, for a list of many.

use model::analysis::Analysis;
use model::printable::printable;
use model::run::Run;

use crate::{answer, check, reproduction};

/// What the run answers: of an article that it repeats, how much of that holds.
pub fn in_short(run: &Run, analysis: &Analysis) -> String {
    let repeated = analysis.reproduction.as_ref().filter(|_| analysis.blocks > 0);
    let checked = || check::in_short(analysis.check.as_ref()?);
    let told = repeated
        .map(reproduction::in_short)
        .or_else(checked)
        .unwrap_or_else(|| answer::in_short(run, analysis));
    // Of another's record, whose names may be anything.
    printable(&told).into_owned()
}
