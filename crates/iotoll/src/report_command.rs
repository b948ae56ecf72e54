//! `iotoll report`: saved results as one HTML file with charts, or as Markdown.

use std::ffi::OsStr;
use std::path::Path;

use report::html::Sheet;

use crate::analysed::Analysed;
use crate::cli::ReportArgs;
use crate::destination::Destination;
use crate::exit::{Exit, UsageError};
use crate::output;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let given: Vec<Option<&Path>> = match args.runs.as_slice() {
        [] => vec![None],
        runs => runs.iter().map(|run| Some(run.as_path())).collect(),
    };
    let analysed = given.into_iter().map(|run| Analysed::found(run, "report", |saved| saved));
    let runs: Vec<Analysed> = analysed.collect::<Result<_, _>>()?;
    let sheets: Vec<Sheet> = runs.iter().map(Analysed::sheet).collect();
    let usual = runs.first().map(|run| run.usual_file("html"));
    let file = args.output.clone().or(usual).unwrap_or_default();
    let destination = Destination::open(&file)?;
    let is_file = !destination.is_stdout();
    let is_markdown = file.extension() == Some(OsStr::new("md"));
    let text = if is_markdown { markdown(&runs)? } else { report::html::page(&sheets) };
    destination.write(text.as_bytes())?;
    if is_file {
        output::note(&format!("the report is in {}", file.display()));
    }
    Ok(Exit::Done)
}

/// The runs as Markdown: those that repeat articles as a page of these, article by article.
fn markdown(runs: &[Analysed]) -> Result<String, UsageError> {
    let comparisons: Option<Vec<_>> = runs.iter().map(Analysed::comparison).collect();
    let comparisons = comparisons.ok_or_else(|| {
        UsageError("only comparisons can be written as Markdown; name a file .html".to_owned())
    })?;
    Ok(report::articles(&comparisons).unwrap_or_else(|| {
        let texts = comparisons.iter().map(|(run, analysis)| report::markdown::text(run, analysis));
        texts.collect::<Vec<_>>().join("\n")
    }))
}
