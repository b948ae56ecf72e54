//! A load in words: in our own layout, and in those of httperf and ab for
//! readers and scripts that know them.

mod ab;
mod httperf;
mod plain;

use std::fmt;

use model::load::{LoadAnalysis, LoadPlan, LoadRun, Step, StepAnalysis};
use model::printable::printable;

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
    let run = &with_printable_texts(run);
    match layout {
        Layout::Plain => plain::render(run, analysis),
        Layout::Httperf => blocks(run, analysis, "\n", httperf::block),
        Layout::Ab => blocks(run, analysis, "\n\n", ab::block),
    }
}

/// A block for each step.
fn blocks(
    run: &LoadRun,
    analysis: &LoadAnalysis,
    gap: &str,
    block: fn(&mut String, &LoadRun, &Step, &StepAnalysis) -> fmt::Result,
) -> String {
    let mut out = String::new();
    for (index, (step, seen)) in run.steps.iter().zip(&analysis.steps).enumerate() {
        out += if index > 0 { gap } else { "" };
        // Writing to a string cannot fail.
        let _ = block(&mut out, run, step, seen);
    }
    out
}

/// How long a step took, to divide by.
fn seconds(seen: &StepAnalysis) -> f64 {
    seen.seconds.max(1e-9)
}

/// A server names itself, and what went wrong may name anything.
fn with_printable_texts(run: &LoadRun) -> LoadRun {
    let mut run = run.clone();
    let LoadPlan { url, host, path, address, method, http, .. } = &mut run.plan;
    let mut texts = vec![url, host, path, address, method, http];
    texts.extend(&mut run.server_software);
    texts.extend(&mut run.preflight.warnings);
    for step in &mut run.steps {
        texts.extend(&mut step.first_error);
        texts.extend(step.server.as_mut().and_then(|server| server.sync_note.as_mut()));
    }
    if let Some(search) = &mut run.search {
        texts.extend(&mut search.limit);
        texts.extend(search.tries.iter_mut().filter_map(|tried| tried.why_not.as_mut()));
    }
    for text in texts {
        // What went wrong may be told in several lines, and has one here.
        *text = printable(&text.replace('\n', " ")).into_owned();
    }
    run
}

#[cfg(test)]
mod tests;
