//! A chart of a page as an SVG file that stands by itself, in the page's colours: for a
//! README or an article, which have no style sheet of ours.

use model::analysis::Analysis;
use model::printable::shortened;
use model::run::{Invocation, Run};
use units::percent;

use super::chart::Drawing;
use super::markup::{Markup, classed, el};
use super::opening::day;
use super::{CHART_STYLE, STYLE, overview};
use crate::answer::headline;
use crate::subject::Subject;

/// The picture's width; its height follows from what is drawn.
const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
/// A title is broken into lines of so many letters, each so high.
const TITLE_LETTERS: usize = 78;
const TITLE_LINE: f64 = 22.0;
const TITLE_GAP: f64 = 10.0;
/// What the line with the source takes, and how many letters fit into it.
const SOURCE: f64 = 26.0;
const SOURCE_LETTERS: usize = 130;
/// So many letters name a run.
const ID_LETTERS: usize = 8;
/// Where the page's style sheet begins to name colours: those for light, then for dark.
const COLOURS: &str = ":root {";

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

/// The first picture of a page, of all advice along one axis; nothing where no change was
/// compared.
pub fn overview(run: &Run, analysis: &Analysis, colours: Colours) -> Option<String> {
    let subject = Subject { run, analysis };
    let title = headline(subject)?;
    Some(file(&title, overview::drawing(subject)?, &source(run, analysis), colours))
}

/// What a figure rests on, in a line below it.
pub(super) fn source(run: &Run, analysis: &Analysis) -> String {
    let id: String = run.run.id.chars().take(ID_LETTERS).collect();
    let confidence = analysis.comparisons.first().map(|c| c.confidence);
    let confidence =
        confidence.map_or_else(String::new, |share| format!(", {} confidence", percent(share)));
    let Invocation { version, started, seconds, .. } = &run.run;
    format!(
        "Source: iotoll {version}, run {id}, {}, {seconds:.0} s{confidence}; Linux {}, {}",
        day(started),
        run.machine.kernel,
        run.machine.cpu
    )
}

/// A drawing under its title and over its source, as a file.
pub(super) fn file(title: &str, drawing: Drawing, source: &str, colours: Colours) -> String {
    let Drawing { height, parts } = drawing;
    let lines = textwrap::wrap(title, TITLE_LETTERS);
    let top = MARGIN + lines.len() as f64 * TITLE_LINE + TITLE_GAP;
    let all = top + height + SOURCE + MARGIN;
    let titles = lines.iter().enumerate().map(|(line, text)| {
        let y = MARGIN + (line as f64 + 0.75) * TITLE_LINE;
        classed("text", "title").attr("x", MARGIN).attr("y", y).text(text)
    });
    let titles: Markup = titles.collect();
    let inner = el("svg")
        .attr("x", MARGIN)
        .attr("y", top)
        .attr("width", WIDTH - 2.0 * MARGIN)
        .attr("height", height)
        .attr("overflow", "visible")
        .child(parts);
    let source = shortened(source, SOURCE_LETTERS);
    let source_line = classed("text", "source").attr("x", MARGIN).attr("y", all - MARGIN);
    let paper = el("rect").attr("width", WIDTH).attr("height", all);
    let svg = el("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("class", "chart")
        .attr("viewBox", format!("0 0 {WIDTH} {all}"))
        .attr("width", WIDTH)
        .attr("height", all)
        .attr("role", "img")
        .child(el("title").text(title))
        .child(el("style").text(style(colours)))
        .child(paper.attr("fill", value("--paper", colours)))
        .child(titles)
        .child(inner)
        .child(source_line.text(source));
    Markup::from(svg).into_string().trim_start().to_owned() + "\n"
}

/// The rules for charts with colours in the place of their names. A picture is scaled as a
/// whole, so that nothing depends on its width.
fn style(colours: Colours) -> String {
    let rules = CHART_STYLE.split("@media").next().unwrap_or_default().replace('\n', " ");
    let mut parts = rules.split("var(");
    let mut style = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(')').unwrap_or((part, ""));
        style += value(name, colours);
        style += rest;
    }
    style
}

/// What the page's style sheet has under a name; that of light where dark has none.
fn value(name: &str, colours: Colours) -> &'static str {
    let mut blocks: Vec<&str> = STYLE.split(COLOURS).skip(1).take(2).collect();
    if colours == Colours::Dark {
        blocks.reverse();
    }
    let entries = blocks.into_iter().flat_map(|block| {
        block.split('}').next().unwrap_or_default().split(';').filter_map(|e| e.split_once(':'))
    });
    let mut found = entries.filter(|(key, _)| key.trim() == name);
    found.next().map_or("", |(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_colours_are_replaced_by_those_of_the_scheme() {
        assert_eq!(value("--paper", Colours::Light), "#fffefb");
        assert_eq!(value("--paper", Colours::Dark), "#161615");
        assert_eq!(value("--sans", Colours::Dark), value("--sans", Colours::Light));
        for colours in [Colours::Light, Colours::Dark] {
            let style = style(colours);
            assert!(!style.contains("var(") && !style.contains(": ;"), "{style}");
            assert!(style.contains("system-ui"), "{style}");
        }
        let names = CHART_STYLE.split("var(").skip(1).filter_map(|part| part.split(')').next());
        for name in names {
            assert_ne!(value(name, Colours::Light), "", "{name}");
        }
    }
}
