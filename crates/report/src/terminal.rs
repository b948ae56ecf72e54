//! The report that a person reads in a terminal, 80 columns wide unless said otherwise:
//! the answer on one screen, and the detail where it is asked for.

use model::analysis::Analysis;
use model::run::Run;

use crate::answer::answer;
use crate::check;
use crate::detail::detail;
use crate::reproduction;
pub use crate::rest::Rest;
use crate::text::PROSE;
pub use crate::text::{WIDTH, Width};

/// The answer and, where it is asked for, all the detail. Where the run repeats an article
/// or checks storage, what follows of that comes first, and the answer is part of the detail.
pub fn report(run: &Run, analysis: &Analysis, rest: Rest<'_>, width: Width) -> String {
    let repeated = reproduction::text(run, analysis, rest, width.min(PROSE))
        .or_else(|| check::text(run, analysis, rest, width));
    let answer = || answer(run, analysis, rest, width);
    if !rest.is_below() {
        return repeated.unwrap_or_else(answer);
    }
    let before = repeated.map_or_else(String::new, |repeated| repeated + "\n");
    format!("{before}{}\n{}", answer(), detail(run, analysis, width.min(PROSE)))
}
