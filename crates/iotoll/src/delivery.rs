//! What every command does with its result, in this order: save it, then print it.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow, ensure};
use model::analysis::Analysis;
use model::document::{self, Document};
use model::run::Run;
use report::html::Sheet;
use serde::Serialize;

use crate::destination::Destination;
use crate::exit::UsageError;
use crate::output;

/// What a result can be written as, besides the report.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Json,
    Csv,
    Html,
    Markdown,
}

/// Where a result goes besides the report.
#[derive(Default)]
pub(crate) struct Targets(Vec<(Form, Destination)>);

impl Targets {
    /// Finds out what they are, before anything is measured.
    pub(crate) fn open<'a>(
        asked: impl IntoIterator<Item = (Form, &'a Option<PathBuf>)>,
    ) -> anyhow::Result<Self> {
        let mut targets = Vec::new();
        for (form, path) in asked {
            if let Some(path) = path {
                targets.push((form, Destination::open(path)?));
            }
        }
        let to_stdout = targets.iter().filter(|(_, target)| target.is_stdout()).count();
        ensure!(
            to_stdout < 2,
            UsageError(
                "only one of --json, --csv, --html and --markdown can print to standard output"
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
        form => Err(anyhow!("only a comparison can be written as {form:?}")),
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
        Form::Csv => Ok(report::csv::arms(run, analysis)),
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
