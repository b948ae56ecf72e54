//! `iotoll report`: saved results as one HTML file with charts.

use std::path::Path;

use report::html::Sheet;

use crate::analysed::Analysed;
use crate::cli::ReportArgs;
use crate::destination::Destination;
use crate::exit::Exit;
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
    destination.write(report::html::page(&sheets).as_bytes())?;
    if is_file {
        output::note(&format!("the report is in {}", file.display()));
    }
    Ok(Exit::Done)
}
