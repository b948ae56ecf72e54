//! What every command does with its result, in this order: save it, then print it.

use anyhow::{Context as _, anyhow, ensure};
use model::analysis::Analysis;
use model::document::{self, Document};
use model::run::Run;
use report::html::Sheet;
use serde::Serialize;

use crate::cli::{Form, OutputArgs};
use crate::destination::Destination;
use crate::exit::UsageError;
use crate::output;

/// Where a result goes besides the report.
#[derive(Default)]
pub(crate) struct Targets(Vec<(Form, Destination)>);

impl Targets {
    /// Finds out what they are, before anything is measured.
    pub(crate) fn open(asked: &OutputArgs) -> anyhow::Result<Self> {
        let opened = asked.files().map(|(form, path)| Ok((form, Destination::open(path)?)));
        let targets = opened.collect::<anyhow::Result<Vec<_>>>()?;
        let to_stdout = targets.iter().filter(|(_, target)| target.is_stdout()).count();
        ensure!(
            to_stdout < 2,
            UsageError(
                "only one of --json, --csv, --openmetrics, --html and --markdown can print to \
                 standard output"
                    .to_owned()
            )
        );
        Ok(Self(targets))
    }

    /// Whether standard output has the report.
    pub(crate) fn print_report(&self) -> bool {
        !self.0.iter().any(|(_, target)| target.is_stdout())
    }
}

/// Writes a result as JSON where that is asked for, and then prints its report, unless
/// standard output has the JSON. What goes wrong with one does not keep the other.
pub(crate) fn deliver(
    json: Option<Destination>,
    document: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let json = json.map(|json| (Form::Json, json));
    deliver_document(Targets(json.into_iter().collect()), document, report)
}

/// The same of a result that has no other form than JSON.
pub(crate) fn deliver_document(
    targets: Targets,
    document: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let write = |form| match form {
        Form::Json => as_json(document),
        form => Err(anyhow!("{} applies only to comparisons", form.flag())),
    };
    deliver_all(targets, write, report)
}

/// The same of a comparison, which has all forms.
pub(crate) fn deliver_comparison(
    targets: Targets,
    run: &Run,
    analysis: &Analysis,
    full: bool,
) -> anyhow::Result<()> {
    let write = |form| match form {
        Form::Json => as_json(&Document::new(run, analysis)),
        Form::Csv(rows) => Ok(report::csv::table(run, analysis, rows)),
        Form::OpenMetrics => Ok(report::openmetrics::text(run, analysis).into_bytes()),
        Form::Html => Ok(report::html::page(&[Sheet::Comparison { run, analysis }]).into_bytes()),
        Form::Markdown => Ok(report::markdown::text(run, analysis).into_bytes()),
    };
    deliver_all(targets, write, |width| report::terminal::report(run, analysis, full, width))
}

fn deliver_all(
    targets: Targets,
    write: impl Fn(Form) -> anyhow::Result<Vec<u8>>,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let prints = targets.print_report();
    let mut delivered = Ok(());
    for (form, target) in targets.0 {
        delivered = delivered.and(write(form).and_then(|bytes| target.write(&bytes)));
    }
    delivered.and(if prints { output::result(&report(output::width())) } else { Ok(()) })
}

pub(crate) fn as_json(document: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut json = Vec::new();
    document::write(document, &mut json).context("writing the result as JSON")?;
    json.push(b'\n');
    Ok(json)
}
