//! A load in words: in our own layout, and in those of httperf and ab for
//! readers and scripts that know them.

mod ab;
mod httperf;
mod plain;

use model::load::{LoadAnalysis, LoadRun};

/// How a load is put into words.
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

/// Puts a load into words; ends with a newline.
pub fn render(layout: Layout, run: &LoadRun, analysis: &LoadAnalysis) -> String {
    match layout {
        Layout::Plain => plain::render(run, analysis),
        Layout::Httperf => httperf::render(run, analysis),
        Layout::Ab => ab::render(run, analysis),
    }
}

#[cfg(test)]
mod tests;
