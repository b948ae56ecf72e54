//! What every command does with its result, in this order: save it, then print it.

use anyhow::{Context as _, anyhow, ensure};
use model::analysis::Analysis;
use model::document::{self, Document};
use model::run::Run;
use report::html::Sheet;
use serde::Serialize;

use crate::cli::{Form, OutputArgs};
use crate::exit::UsageError;
use crate::results::destination::Destination;
use crate::terminal::output;

/// Where a result goes besides the report.
#[derive(Default)]
pub(crate) struct Targets(Vec<(Form, Destination)>);

impl Targets {
    /// At the most a file for JSON.
    pub(crate) fn json(json: Option<Destination>) -> Self {
        Self(json.map(|json| (Form::Json, json)).into_iter().collect())
    }

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

    /// What has to be rendered for them.
    pub(crate) fn asked(&self) -> Asked {
        Asked {
            forms: self.0.iter().map(|(form, _)| *form).collect(),
            width: self.print_report().then(output::width),
        }
    }

    /// Writes the files, then prints the report, unless standard output has a file. What goes
    /// wrong with one does not keep the others.
    pub(crate) fn deliver(self, rendered: Rendered) -> anyhow::Result<()> {
        let prints = self.print_report();
        ensure!(rendered.files.len() == self.0.len(), "not every file was rendered");
        let mut delivered = Ok(());
        for ((_, target), bytes) in self.0.into_iter().zip(rendered.files) {
            delivered = delivered.and(target.write(&bytes));
        }
        delivered.and(if prints { output::result(&rendered.report) } else { Ok(()) })
    }
}

/// What a result is to be rendered as.
pub(crate) struct Asked {
    forms: Vec<Form>,
    /// The columns of the report, where it is printed.
    width: Option<usize>,
}

/// A result as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// For standard output.
    pub(crate) report: String,
    /// The run's name, where a file is called by it.
    pub(crate) id: String,
    /// For each file that was asked for.
    pub(crate) files: Vec<Vec<u8>>,
}

impl Rendered {
    /// The only file.
    pub(crate) fn into_file(self) -> anyhow::Result<Vec<u8>> {
        self.files.into_iter().next().ok_or_else(|| anyhow!("nothing was rendered"))
    }
}

/// Writes a result as JSON where that is asked for, and then prints its report, unless
/// standard output has the JSON.
pub(crate) fn deliver(
    json: Option<Destination>,
    document: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let targets = Targets::json(json);
    let rendered = render(&targets.asked(), document, report)?;
    targets.deliver(rendered)
}

/// The same of a comparison, which has all forms.
pub(crate) fn deliver_comparison(
    targets: Targets,
    run: &Run,
    analysis: &Analysis,
    full: bool,
) -> anyhow::Result<()> {
    let rendered = render_comparison(&targets.asked(), run, analysis, full)?;
    targets.deliver(rendered)
}

/// Renders a result that has no other form than JSON.
pub(crate) fn render(
    asked: &Asked,
    document: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<Rendered> {
    let write = |form| match form {
        Form::Json => as_json(document),
        form => Err(anyhow!("{} applies only to comparisons", form.flag())),
    };
    render_all(asked, write, report)
}

/// Renders a comparison, which has all forms.
pub(crate) fn render_comparison(
    asked: &Asked,
    run: &Run,
    analysis: &Analysis,
    full: bool,
) -> anyhow::Result<Rendered> {
    let write = |form| match form {
        Form::Json => as_json(&Document::new(run, analysis)),
        Form::Csv(rows) => Ok(report::csv::table(run, analysis, rows)),
        Form::OpenMetrics => Ok(report::openmetrics::text(run, analysis).into_bytes()),
        Form::Html => Ok(report::html::page(&[Sheet::Comparison { run, analysis }]).into_bytes()),
        Form::Markdown => Ok(report::markdown::text(run, analysis).into_bytes()),
    };
    render_all(asked, write, |width| report::terminal::report(run, analysis, full, width))
}

fn render_all(
    asked: &Asked,
    write: impl Fn(Form) -> anyhow::Result<Vec<u8>>,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<Rendered> {
    let files = asked.forms.iter().map(|form| write(*form)).collect::<anyhow::Result<_>>()?;
    let report = asked.width.map(report).unwrap_or_default();
    Ok(Rendered { report, files, ..Rendered::default() })
}

pub(crate) fn as_json(document: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut json = Vec::new();
    document::write(document, &mut json).context("writing the result as JSON")?;
    json.push(b'\n');
    Ok(json)
}
