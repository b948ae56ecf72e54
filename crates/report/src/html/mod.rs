//! A report as one HTML file, which needs nothing but itself: no network, and no script to
//! be read. Its charts are drawn here, as SVG; the script can save them as files, and no
//! more.
//!
//! It opens with the answer: a title that says what was found, and a picture of all advice along
//! one axis ([`answer`]). Each study follows behind a line that opens it: its charts, each with a
//! table of the same, its causes, the recipe of each change, and what became of its data. Then
//! come what disturbed the run, the machine and the places, and how to repeat it. The complete
//! record rides inside ([`record`]).

mod answer;
mod block_times;
mod change_axis;
mod chart;
mod clients;
mod columns;
mod command;
mod contents;
mod curves;
mod facts;
pub mod figure;
mod forest;
mod grid;
mod latency;
mod legend;
mod load;
mod markup;
mod of_study;
mod opening;
mod over_runs;
mod over_time;
mod overview;
mod panels;
mod parameters;
mod parts;
pub mod picture;
mod recipes;
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
use self::contents::Contents;
use self::markup::{Element, Markup, classed, el};
pub use self::over_time::Rounds;
pub use self::tables::{page_of_tables, page_of_trend};
use crate::answer::Screen;
use crate::subject::Subject;

/// The id of what several runs have in common.
const SIDE_BY_SIDE: &str = "side-by-side";
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
    page_with(sheets, Rounds::Drifting, &Matching::default())
}

/// The same, with the rounds of those combinations, and a rule for which combinations of several
/// runs are the same.
pub fn page_with(sheets: &[Sheet], rounds: Rounds, matching: &Matching) -> String {
    let mut ids = Ids::default();
    let mut contents = Contents::default();
    if sheets.len() > 1 {
        contents.add("Side by side", SIDE_BY_SIDE);
    }
    let mut main = el("main").child(side_by_side::overview(sheets, matching, &mut ids));
    let mut records = Markup::default();
    for (number, sheet) in sheets.iter().enumerate() {
        let id = format!("run-{}", number + 1);
        if sheets.len() > 1 {
            contents.add(&format!("Run {}", number + 1), &id);
        }
        let place = Place { id: &id, ids: &mut ids, contents: &mut contents };
        main = main.child(match sheet {
            Sheet::Comparison { run, analysis } => {
                comparison(Subject { run, analysis }, rounds, place)
            }
            Sheet::Load { run, analysis } => load::section(run, analysis, place.ids, &id),
        });
        records.push(record::embedded(sheet));
    }
    let title = match sheets {
        [sheet] => sheet.title(),
        several => format!("{} runs side by side", several.len()),
    };
    let main = main.child(ids.readings());
    document_with(&title, contents.nav(), main, records)
}

/// A whole page.
fn document(title: &str, main: Element) -> String {
    document_with(title, None, main, Markup::default())
}

fn document_with(title: &str, nav: Option<Element>, main: Element, records: Markup) -> String {
    let body = el("body")
        .children(nav)
        .child(main)
        .child(records)
        .child(el("script").child(Markup::of_ours(SCRIPT)));
    let html = el("html").attr("lang", "en").child(head(title)).child(body);
    let mut page = Markup::of_ours("<!doctype html>\n");
    page.push(html);
    page.into_string() + "\n"
}

/// Where a run's section goes, and what it adds to the page.
struct Place<'a> {
    id: &'a str,
    ids: &'a mut Ids,
    contents: &'a mut Contents,
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
    /// What was found, or what was measured, in a line.
    fn title(&self) -> String {
        match self {
            Self::Comparison { run, analysis } => {
                let found = crate::answer::headline(Subject { run, analysis });
                found.unwrap_or_else(|| opening::subject_line(run))
            }
            Self::Load { run, .. } => run.plan.url.clone(),
        }
    }
}

fn comparison(subject: Subject, rounds: Rounds, place: Place) -> Element {
    let run = subject.run;
    let Place { id, ids, contents } = place;
    let typical_times = BlockTimes::of(run);
    let is_known = typical_times.blocks() > 0;
    contents.add("Answer", &format!("{id}-answer"));
    let screen = Screen::of(run, subject.analysis);
    let answer = el("div")
        .attr("id", format!("{id}-answer"))
        .child(opening::title_and_warnings(subject, &screen))
        .child(opening::answer(subject, &screen));
    let mut section = classed("section", "run")
        .attr("id", id)
        .child(answer)
        .child(opening::notes(subject, &screen))
        .child(reproduction::section(subject, ids));
    for study in run.studies.iter().filter(|_| is_known) {
        let own = format!("{id}-{}", chart::file_name("study", &study.name));
        contents.add(&study.name, &own);
        let charts = of_study::charts(subject, study, &typical_times, rounds);
        section = section.child(of_study::section(subject, study, charts, ids, &own));
    }
    let sections = [
        ("Disturbances", "disturbances", facts::disturbances(subject)),
        ("Machine and places", "machine", facts::machine_and_places(run)),
        ("How to repeat it", "repeat", facts::repeating(run)),
    ];
    for (title, end, content) in sections {
        let own = format!("{id}-{end}");
        contents.add(title, &own);
        section = section.child(collapsed(title, &own, content));
    }
    section
}

/// A section behind its title, which a link to it opens.
fn collapsed(title: &str, id: &str, content: Markup) -> Element {
    let summary = el("summary").child(el("h2").text(title));
    classed("details", "study").child(summary).child(el("div").attr("id", id).child(content))
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
