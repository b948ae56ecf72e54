//! The run that the README opens with. Its record is in `docs/example.html`, a report as
//! `iotoll compare --html` writes it; the page, the screen in the README and the chart beside
//! it are made from that again whenever what the program says of a run has changed.

use std::fs;

use analysis::analyse;
use anyhow::{Context as _, Result};
use model::run::Run;
use report::html::picture::{Colours, overview};
use report::html::{Sheet, page, record};
use report::terminal::{self, WIDTH};

use xtask::process;

use crate::generated::Generated;

const RECORD: &str = "docs/example.html";
const README: &str = "README.md";
/// What stands in the README before the screen, and what ends it.
const BEFORE: &str =
    "<!-- `cargo xtask generate` writes this screen from docs/example.html. -->\n```text\n";
const AFTER: &str = "```\n";
/// The pages whose blocks of text are parts of the run's full report.
#[cfg(test)]
const QUOTING: [&str; 1] = ["docs/how-to/tmpfs.md"];
#[cfg(test)]
const QUOTATION: &str = "\n```text\n";
/// More than any report has.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// The run itself.
pub(crate) fn run() -> Result<Run> {
    let page = fs::read_to_string(process::root().join(RECORD)).context(RECORD)?;
    let json = record::read(&page, None, RECORD_BYTES_MAX).context(RECORD)?;
    let mut run = Run::read(&String::from_utf8(json)?)?;
    studies::complete(&mut run.studies);
    Ok(run)
}

/// All that is made from it.
pub(crate) fn files() -> Result<[Generated; 4]> {
    let run = run()?;
    let analysis = analyse(&run);
    let chart = |colours| {
        let chart = overview(&run, &analysis, colours);
        chart.with_context(|| format!("{RECORD} compares nothing"))
    };
    let styled = terminal::report(&run, &analysis, terminal::Rest::LATEST, WIDTH);
    let screen = anstream::adapter::strip_str(&styled).to_string();
    let readme = fs::read_to_string(process::root().join(README)).context(README)?;
    let sheet = Sheet::Comparison { run: &run, analysis: &analysis };
    Ok([
        Generated::new(RECORD, page(&[sheet])),
        Generated::new("docs/example-light.svg", chart(Colours::Light)?),
        Generated::new("docs/example-dark.svg", chart(Colours::Dark)?),
        Generated::new(README, with_screen(&readme, &screen)?),
    ])
}

/// What pages quote from the run's full report and it does not say. A quotation leaves out
/// whole paragraphs at the most.
#[cfg(test)]
pub(crate) fn misquoted() -> Result<Vec<String>> {
    let run = run()?;
    let styled = terminal::report(&run, &analyse(&run), terminal::Rest::Below, WIDTH);
    let report = anstream::adapter::strip_str(&styled).to_string();
    let mut misquoted = Vec::new();
    for page in QUOTING {
        let text = fs::read_to_string(process::root().join(page)).context(page)?;
        let missing = missing(&text, &report);
        misquoted.extend(missing.map(|quoted| format!("{page}: {RECORD} does not say:\n{quoted}")));
    }
    Ok(misquoted)
}

/// The paragraphs of a page's blocks of text that the report does not have.
#[cfg(test)]
fn missing<'a>(page: &'a str, report: &str) -> impl Iterator<Item = &'a str> {
    let blocks = page.split(QUOTATION).skip(1).filter_map(|rest| rest.split("\n```").next());
    let paragraphs = blocks.flat_map(|block| block.split("\n\n"));
    paragraphs.filter(move |paragraph| !report.contains(&format!("{paragraph}\n")))
}

/// The README with that screen in the place of the one that it has.
fn with_screen(readme: &str, screen: &str) -> Result<String> {
    let missing = || format!("{README} has no place for the screen: {BEFORE}");
    let (before, rest) = readme.split_once(BEFORE).with_context(missing)?;
    let (_, after) = rest.split_once(AFTER).with_context(missing)?;
    Ok(format!("{before}{BEFORE}{screen}{AFTER}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_has_to_be_in_the_report() {
        let report = "log:\n  a  1\n\n  b  2\n\n  c  3\n";
        let of = |page| missing(page, report).collect::<Vec<_>>();
        let page = "x\n```text\nlog:\n  a  1\n\n  c  3\n```\ny\n```text\n  b  2\n```\n";
        assert_eq!(of(page), [""; 0]);
        assert_eq!(of("x\n```text\nlog:\n  a  1\n\n  c  4\n```\n"), ["  c  4"]);
        assert_eq!(of("x\n```text\n  a  1\n  b  2\n```\n"), ["  a  1\n  b  2"]);
    }

    /// Fails where the report of a default run is larger than is sent by mail.
    #[test]
    fn the_page_of_a_default_run_is_small() {
        let facts = fs::metadata(process::root().join(RECORD)).expect("it is there");
        assert!(facts.len() < 400_000, "{} bytes", facts.len());
    }

    #[test]
    fn the_screen_is_replaced_and_nothing_else() {
        let readme = format!("# a\n{BEFORE}old\n{AFTER}b\n```text\nother\n```\n");
        let new = with_screen(&readme, "new\nscreen\n").expect("it has a place");
        assert_eq!(new, readme.replace("old", "new\nscreen"));
        assert!(with_screen("# a\n```text\nx\n```\n", "new").is_err());
    }
}
