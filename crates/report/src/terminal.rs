//! The report that a person reads in a terminal, 80 columns wide unless said otherwise:
//! the answer on one screen, and the detail where it is asked for.

use model::analysis::Analysis;
use model::run::Run;

use crate::answer::answer;
use crate::check;
use crate::detail::detail;
use crate::reproduction;
use crate::text::PROSE;
pub use crate::text::{WIDTH, Width};

/// Where a reader finds what the screen leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest<'a> {
    /// It follows.
    Below,
    /// By commands with this behind their names, as it is typed in a shell.
    Of(&'a str),
    /// Nowhere, for nothing keeps the run.
    Nowhere,
}

impl Rest<'_> {
    /// Of the run that was saved last, which commands take where none is named.
    pub const LATEST: Self = Self::Of("");

    pub(crate) fn is_below(self) -> bool {
        self == Self::Below
    }

    /// What is typed, `iotoll show run.json --how`; none where that shows nothing, or another run.
    pub(crate) fn command(self, name: &str, flag: &str) -> Option<String> {
        let Self::Of(run) = self else { return None };
        let words = ["iotoll", name, run, flag].into_iter().filter(|word| !word.is_empty());
        Some(words.collect::<Vec<_>>().join(" "))
    }
}

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
