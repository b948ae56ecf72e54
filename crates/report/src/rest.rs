//! What a screen leaves out, and how it is shown.

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
