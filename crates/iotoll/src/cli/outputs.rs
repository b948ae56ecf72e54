//! What a comparison can be written as, for every command that ends with one.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use report::csv::Rows;

/// What a result can be written as, besides the report.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Json,
    Csv(Rows),
    OpenMetrics,
    Html,
    Markdown,
}

impl Form {
    /// The flag that asks for it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Json => "--json",
            Self::Csv(_) => "--csv",
            Self::OpenMetrics => "--openmetrics",
            Self::Html => "--html",
            Self::Markdown => "--markdown",
        }
    }
}

// Not a comment of documentation, which would become the help text of each command.
#[derive(Args, Clone, Default)]
pub(crate) struct OutputArgs {
    /// Print every table, cause and check after the answer
    #[arg(long)]
    pub(crate) full: bool,

    /// Write the result as JSON; - prints it instead of the report
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write the figures as CSV, for a chart or a spreadsheet; - prints them instead of the
    /// report
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,

    /// What a row of the CSV is: an arm, an arm in one block, or a bucket of an arm's
    /// latency histogram
    #[arg(long, value_name = "ROWS", value_enum, default_value_t, requires = "csv")]
    pub(crate) csv_rows: RowsArg,

    /// Write the figures as OpenMetrics, for Prometheus; - prints them instead of the report
    #[arg(long, value_name = "FILE")]
    pub(crate) openmetrics: Option<PathBuf>,

    /// Write the report as one HTML file with charts; - prints it instead of the report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Write the report as Markdown, to be pasted into an issue; - prints it instead of the
    /// report
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum RowsArg {
    #[default]
    Arms,
    Blocks,
    Buckets,
}

impl OutputArgs {
    /// The files that are asked for, each with what is to be in it.
    pub(crate) fn files(&self) -> impl Iterator<Item = (Form, &Path)> {
        let rows = match self.csv_rows {
            RowsArg::Arms => Rows::Arms,
            RowsArg::Blocks => Rows::Blocks,
            RowsArg::Buckets => Rows::Buckets,
        };
        let files = [
            (Form::Json, &self.json),
            (Form::Csv(rows), &self.csv),
            (Form::OpenMetrics, &self.openmetrics),
            (Form::Html, &self.html),
            (Form::Markdown, &self.markdown),
        ];
        files.into_iter().filter_map(|(form, path)| Some((form, path.as_deref()?)))
    }
}
