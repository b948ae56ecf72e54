//! The report that a person reads in a terminal, 80 columns wide unless said otherwise:
//! the answer on one screen, and the detail where it is asked for.

use model::analysis::Analysis;
use model::run::Run;

use crate::answer::answer;
use crate::detail::detail;
use crate::text::PROSE;
pub use crate::text::{WIDTH, Width};

/// The answer and, where it is asked for, all the detail.
pub fn report(run: &Run, analysis: &Analysis, full: bool, width: Width) -> String {
    let answer = answer(run, analysis, full, width);
    if full { format!("{answer}\n{}", detail(run, analysis, width.min(PROSE))) } else { answer }
}
