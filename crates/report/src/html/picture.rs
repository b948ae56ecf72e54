//! A chart of a page as an SVG file that stands by itself, in the page's colours: for a
//! README or an article, which have no style sheet of ours.

use model::analysis::Analysis;
use model::run::Run;

use super::block_times::BlockTimes;
use super::chart::{Chart, Drawing};
use super::markup::{Markup, classed, el};
use super::{CHART_STYLE, STYLE, forest};
use crate::subject::Subject;

/// The picture's width; its height follows from what is drawn.
const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
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

/// What the arms of a study differ by from what is done now; nothing where none are compared.
pub fn against_now(
    run: &Run,
    analysis: &Analysis,
    study: &str,
    colours: Colours,
) -> Option<String> {
    let chart = forest::against_now(Subject { run, analysis }, study, &BlockTimes::of(run))?;
    let Chart { title, drawing: Drawing { height, parts }, .. } = chart;
    let all = height + 2.0 * MARGIN;
    let inner = classed("svg", "chart")
        .attr("x", MARGIN)
        .attr("y", MARGIN)
        .attr("width", WIDTH - 2.0 * MARGIN)
        .attr("height", height)
        .child(parts);
    let paper = el("rect").attr("width", WIDTH).attr("height", all);
    let svg = el("svg")
        .attr("xmlns", "http://www.w3.org/2000/svg")
        .attr("viewBox", format!("0 0 {WIDTH} {all}"))
        .attr("width", WIDTH)
        .attr("height", all)
        .attr("role", "img")
        .child(el("title").text(format!("{study}: {title}")))
        .child(el("style").text(style(colours)))
        .child(paper.attr("fill", value("--paper", colours)))
        .child(inner);
    Some(Markup::from(svg).into_string().trim_start().to_owned() + "\n")
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
