//! What every command does with its result, in this order: save it, then print it.

use std::path::Path;

use anyhow::{Context as _, ensure};
use model::document;
use serde::Serialize;

use crate::destination::Destination;
use crate::exit::UsageError;
use crate::output;

/// Where a result goes besides the report.
#[derive(Default)]
pub(crate) struct Targets {
    json: Option<Destination>,
    csv: Option<Destination>,
    html: Option<Destination>,
}

impl Targets {
    /// Finds out what they are, before anything is measured.
    pub(crate) fn open(
        json: Option<&Path>,
        csv: Option<&Path>,
        html: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let open = |path: Option<&Path>| path.map(Destination::open).transpose();
        let targets = Self { json: open(json)?, csv: open(csv)?, html: open(html)? };
        let to_stdout = targets.all().filter(|target| target.is_stdout()).count();
        ensure!(
            to_stdout < 2,
            UsageError(
                "only one of --json, --csv and --html can print to standard output".to_owned()
            )
        );
        Ok(targets)
    }

    /// Whether standard output has the report.
    pub(crate) fn print_report(&self) -> bool {
        !self.all().any(Destination::is_stdout)
    }

    fn all(&self) -> impl Iterator<Item = &Destination> {
        self.json.iter().chain(&self.csv).chain(&self.html)
    }
}

/// Writes a result as JSON where that is asked for, and then prints its report, unless
/// standard output has the JSON. What goes wrong with one does not keep the other.
pub(crate) fn deliver(
    json: Option<Destination>,
    document: &impl Serialize,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let targets = Targets { json, ..Targets::default() };
    deliver_all(targets, document, Vec::new, String::new, report)
}

/// The same of a result that can be a table and a page as well.
pub(crate) fn deliver_all(
    targets: Targets,
    document: &impl Serialize,
    table: impl FnOnce() -> Vec<u8>,
    page: impl FnOnce() -> String,
    report: impl FnOnce(usize) -> String,
) -> anyhow::Result<()> {
    let prints = targets.print_report();
    let saved = targets.json.map_or(Ok(()), |json| json.write(&as_json(document)?));
    let saved = saved.and(targets.csv.map_or(Ok(()), |csv| csv.write(&table())));
    let saved = saved.and(targets.html.map_or(Ok(()), |html| html.write(page().as_bytes())));
    let printed = if prints { output::result(&report(output::width())) } else { Ok(()) };
    saved.and(printed)
}

fn as_json(document: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut json = Vec::new();
    document::write(document, &mut json).context("writing the result as JSON")?;
    json.push(b'\n');
    Ok(json)
}
