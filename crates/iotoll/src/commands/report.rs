//! `iotoll report`: saved results as one HTML file with charts, or as Markdown.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use report::html::{Rounds, Sheet};
use trace::Bill;

use crate::cli::MatchArgs;
use crate::exit::{Exit, UsageError};
use crate::results::{Analysed, Destination, Rendered, Source, cannot, confined, open, usual_file};

/// What is done with a result, for a sentence about what keeps it from that.
const REPORT: &str = "report";

const REPORT_EXAMPLES: &str = "\
Examples:
  iotoll report                           the last run, as iotoll-RUN.html
  iotoll report last~1 last -o both.html  two runs on one page
  iotoll report run.json -o run.md        as Markdown
  iotoll report app.trace -o app.html     a recording";

/// Write saved runs or recordings as an HTML page
#[derive(Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Show these runs on the page [default: last]
    ///
    /// Give files written by --json or --html, or saved runs: the beginnings of their names,
    /// `last`, or `last~1` for the one before. Several runs are shown side by side. A trace, or
    /// two that are compared, are shown as tables.
    #[arg(value_name = "FILE|RUN")]
    runs: Vec<PathBuf>,

    /// Write it here [default: iotoll-RUN.html]
    ///
    /// The file is Markdown where its name ends in .md. With - as FILE, print it.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Draw every round, not only where something drifted
    #[arg(long)]
    rounds: bool,

    #[command(flatten)]
    matching: MatchArgs,
}

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Exit> {
    let given: Vec<Option<&Path>> = match args.runs.as_slice() {
        [] => vec![None],
        runs => runs.iter().map(|run| Some(run.as_path())).collect(),
    };
    let named = args.output.as_deref();
    let open_named = |file| Destination::open_named(file, &["html", "htm", "md"]);
    let destination = named.map(open_named).transpose()?;
    let is_markdown = named.is_some_and(|file| file.extension() == Some(OsStr::new("md")));
    let sources = given.iter().map(|run| open(*run, REPORT)).collect::<Result<Vec<_>, _>>()?;
    let matching = args.matching.rule();
    let rendered = confined::rendered(sources, |sources| {
        if sources.iter().any(Source::is_trace) {
            return recordings(sources, is_markdown);
        }
        // All are read before any is analysed: what is too much together takes no more memory.
        let saved = given.iter().zip(sources).map(|(run, source)| {
            Ok((run, source.read().map_err(|why| cannot(*run, REPORT, &why))?))
        });
        let saved: Vec<_> = saved.collect::<Result<_, UsageError>>()?;
        let analysed = saved
            .into_iter()
            .map(|(run, saved)| Analysed::of(saved).map_err(|why| cannot(*run, REPORT, &why)));
        let runs: Vec<Analysed> = analysed.collect::<Result<_, _>>()?;
        let sheets: Vec<Sheet> = runs.iter().map(Analysed::sheet).collect();
        let rounds = if args.rounds { Rounds::All } else { Rounds::Drifting };
        let page = || report::html::page_with(&sheets, rounds, &matching);
        let text = if is_markdown { markdown(&runs)? } else { page() };
        let id = runs.first().map(Analysed::id).unwrap_or_default().to_owned();
        Ok(Rendered { id, files: vec![text.into_bytes()], ..Rendered::default() })
    })?;
    let usual = || Destination::open(&usual_file(&rendered.id, "html"));
    let destination = destination.map_or_else(usual, Ok)?;
    let content = rendered.into_file()?;
    destination.write_and_tell(&content, |file| format!("the report is in {file}"))?;
    Ok(Exit::Done)
}

/// One recording, or what differs between two.
fn recordings(sources: Vec<Source>, is_markdown: bool) -> anyhow::Result<Rendered> {
    let bills: Vec<Bill> = sources.into_iter().map(Source::bill).collect::<Result<_, _>>()?;
    let tables = match bills.as_slice() {
        [bill] => report::recording::tables(bill),
        [before, after] => report::recording::between(before, after).tables(),
        _ => bail!(UsageError(
            "a report has one recording, or two that are compared; name fewer".to_owned()
        )),
    };
    let text = if is_markdown { tables.markdown() } else { report::html::page_of_tables(&tables) };
    let id = bills.first().map(|bill| bill.header.program.clone()).unwrap_or_default();
    Ok(Rendered { id, files: vec![text.into_bytes()], ..Rendered::default() })
}

/// The runs as Markdown: those that repeat articles as a page of these, article by article.
fn markdown(runs: &[Analysed]) -> Result<String, UsageError> {
    let comparisons: Option<Vec<_>> = runs.iter().map(Analysed::comparison).collect();
    let comparisons = comparisons.ok_or_else(|| {
        UsageError("only comparisons can be written as Markdown; name a file .html".to_owned())
    })?;
    Ok(report::articles(&comparisons).unwrap_or_else(|| {
        let texts = comparisons
            .iter()
            .map(|(run, analysis)| report::formats::markdown::text(run, analysis));
        texts.collect::<Vec<_>>().join("\n")
    }))
}
