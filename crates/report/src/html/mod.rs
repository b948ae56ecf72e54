//! A report as one HTML file, which needs nothing but itself: no network, and no script to
//! be read. Its charts are drawn here, as SVG; the script can save them as files, and no
//! more.
//!
//! It opens with the screen that `compare` ends with. Then each study has its charts, each
//! with a table of the same, its causes and what became of its data; then come what
//! disturbed the run, the machine and the places, and how to repeat it. The complete record
//! rides inside ([`record`]).

mod block_times;
mod chart;
mod clients;
mod columns;
mod command;
mod curves;
mod facts;
mod forest;
mod latency;
mod legend;
mod load;
mod markup;
mod of_study;
mod opening;
mod over_runs;
mod over_time;
mod parameters;
mod parts;
pub mod picture;
pub mod record;
mod reproduction;
mod scale;
mod side_by_side;
mod table;
mod tables;
mod time;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::analysis::Analysis;
use model::load::{LoadAnalysis, LoadRun};
use model::matching::Matching;
use model::run::Run;
use sha2::{Digest as _, Sha256};

use self::block_times::BlockTimes;
use self::chart::Ids;
use self::markup::{Element, Markup, classed, el};
pub use self::tables::{page_of_tables, page_of_trend};
use crate::subject::Subject;

const STYLE: &str = include_str!("style.css");
/// What charts look like: apart, for a chart that is saved takes it along.
const CHART_STYLE: &str = include_str!("chart.css");
const SCRIPT: &str = include_str!("script.js");

/// What a page is about.
pub enum Sheet<'a> {
    /// A comparison.
    Comparison {
        /// Its record.
        run: &'a Run,
        /// What follows from it.
        analysis: &'a Analysis,
    },
    /// A load.
    Load {
        /// Its record.
        run: &'a LoadRun,
        /// What follows from it.
        analysis: &'a LoadAnalysis,
    },
}

/// The page of one run, or of several side by side.
pub fn page(sheets: &[Sheet]) -> String {
    page_matched(sheets, &Matching::default())
}

/// The same with a rule for which combinations of several runs are the same.
pub fn page_matched(sheets: &[Sheet], matching: &Matching) -> String {
    let mut ids = Ids::default();
    let mut main = el("main").child(side_by_side::overview(sheets, matching, &mut ids));
    let mut records = Markup::default();
    for (number, sheet) in sheets.iter().enumerate() {
        let prefix = format!("run-{}", number + 1);
        main = main.child(match sheet {
            Sheet::Comparison { run, analysis } => {
                comparison(Subject { run, analysis }, &mut ids, &prefix)
            }
            Sheet::Load { run, analysis } => load::section(run, analysis, &mut ids, &prefix),
        });
        records.push(record::embedded(sheet));
    }
    let title = match sheets {
        [sheet] => sheet.subject(),
        several => format!("{} runs side by side", several.len()),
    };
    document_with(&title, main, records)
}

/// A whole page.
fn document(title: &str, main: Element) -> String {
    document_with(title, main, Markup::default())
}

fn document_with(title: &str, main: Element, records: Markup) -> String {
    let body =
        el("body").child(main).child(records).child(el("script").child(Markup::of_ours(SCRIPT)));
    let html = el("html").attr("lang", "en").child(head(title)).child(body);
    let mut page = Markup::of_ours("<!doctype html>\n");
    page.push(html);
    page.into_string() + "\n"
}

fn head(title: &str) -> Element {
    let meta =
        |name: &'static str, content: &str| el("meta").attr("name", name).attr("content", content);
    el("head")
        .child(el("meta").attr("charset", "utf-8"))
        .child(el("meta").attr("http-equiv", "Content-Security-Policy").attr("content", policy()))
        .child(meta("viewport", "width=device-width, initial-scale=1"))
        .child(meta("color-scheme", "light dark"))
        .child(meta("generator", "iotoll"))
        .child(el("title").text(format!("{title} – iotoll")))
        .child(el("style").child(Markup::of_ours(STYLE)))
        .child(el("style").attr("id", "chart-style").child(Markup::of_ours(CHART_STYLE)))
}

/// What a browser is to allow the page: its own styles and script, and pictures that the
/// script draws. Whatever else might have got into it does nothing, and nothing leaves it.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {} {}; script-src {}; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(CHART_STYLE),
        hash(SCRIPT)
    )
}

impl Sheet<'_> {
    /// What was measured, in a few words.
    fn subject(&self) -> String {
        match self {
            Self::Comparison { run, .. } => opening::subject_line(run),
            Self::Load { run, .. } => run.plan.url.clone(),
        }
    }
}

fn comparison(subject: Subject, ids: &mut Ids, prefix: &str) -> Element {
    let run = subject.run;
    let typical_times = BlockTimes::of(run);
    let is_known = typical_times.blocks() > 0;
    let studies: Vec<_> = run.studies.iter().filter(|_| is_known).collect();
    let id = |number: usize| format!("{prefix}-study-{}", number + 1);
    let links = studies.iter().enumerate().map(|(number, study)| {
        let link = el("a").attr("href", format!("#{}", id(number))).text(&study.name);
        el("li").child(link)
    });
    let mut section = classed("section", "run")
        .attr("id", prefix)
        .child(opening::title_and_warnings(subject))
        .child(reproduction::section(subject, ids))
        .child(opening::answer(subject));
    if studies.len() > 1 {
        let nav =
            el("nav").attr("aria-label", "Studies of this run").child(el("ul").children(links));
        section = section.child(nav);
    }
    for (number, study) in studies.iter().enumerate() {
        section =
            section.child(of_study::section(subject, study, &typical_times, ids, &id(number)));
    }
    section
        .child(facts::disturbances(subject))
        .child(facts::machine_and_places(run))
        .child(facts::repeating(run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_escaped_ends_no_element() {
        for ours in [STYLE, CHART_STYLE, SCRIPT] {
            assert!(!ours.contains("</"), "it would end its element");
            assert!(
                !ours.contains("://") || ours.contains("http://www.w3.org/"),
                "it names a host"
            );
        }
    }
}
