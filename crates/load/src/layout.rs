//! Results in words: our own layout, and those of httperf and ab for readers
//! and scripts that know them.

mod ab;
mod httperf;
mod plain;

use crate::LoadResult;

/// A way of putting a result into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Our own, within 80 columns.
    #[default]
    Plain,
    /// As httperf prints it.
    Httperf,
    /// As `ApacheBench` prints it.
    Ab,
}

/// Puts a result into words; ends with a newline.
pub fn render(layout: Layout, result: &LoadResult) -> String {
    match layout {
        Layout::Plain => plain::render(result),
        Layout::Httperf => httperf::render(result),
        Layout::Ab => ab::render(result),
    }
}
