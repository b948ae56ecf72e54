//! The first picture of a page as one drawing, for a file: all rows of the answer along one axis.

use model::printable::shortened;

use super::change_axis::{ChangeAxis, key};
use super::chart::{Drawing, labels, percent};
use super::markup::{Element, Markup, classed, el};
use crate::answer::{Entry, Screen, Section};
use crate::subject::Subject;

/// Where the axis begins, and how much of the width it takes.
const AXIS: [f64; 2] = [0.36, 0.38];
const HEADING: f64 = 26.0;
const ROW: f64 = 34.0;
/// Where letters stand in a heading, and in the two lines of a row.
const HEADING_BASELINE: f64 = 19.0;
const BASELINES: [f64; 2] = [14.0, 28.0];
/// What is left free above the axis, and below all.
const AXIS_HEIGHT: f64 = 18.0;
/// Letters that fit into a name, and into a line.
const NAME_MAX: usize = 40;
const LINE_MAX: usize = 110;

/// The drawing; nothing where no change was compared.
pub(super) fn drawing(subject: Subject) -> Option<Drawing> {
    let screen = Screen::of(subject.run, subject.analysis);
    let sections = screen.sections();
    let axis = ChangeAxis::of(&sections)?;
    let mut parts = Markup::from(on_axis(0.0, AXIS_HEIGHT).child(labels(&axis.ticks(), 13.0)));
    let mut y = AXIS_HEIGHT;
    for section in &sections {
        parts.push(heading(section, &axis, y));
        y += HEADING;
        for entry in section.entries {
            parts.push(on_axis(y, ROW).child(axis.row(section.group, Some(entry))));
            parts.push(words(section, entry, y));
            y += ROW;
        }
    }
    Some(Drawing { height: y, parts })
}

/// A part of the drawing that is as wide as the axis.
fn on_axis(y: f64, height: f64) -> Element {
    el("svg")
        .attr("x", percent(AXIS[0]))
        .attr("y", y)
        .attr("width", percent(AXIS[1]))
        .attr("height", height)
        .attr("overflow", "visible")
}

fn heading(section: &Section, axis: &ChangeAxis, y: f64) -> Markup {
    let grid = on_axis(y, HEADING).child(axis.row(section.group, None));
    let mark = el("svg").attr("y", y + 8.0).attr("width", 12).attr("height", 12);
    let mark = mark.attr("overflow", "visible").child(key(section.group));
    let text = text(18.0, y + HEADING_BASELINE, "heading", &section.heading, LINE_MAX);
    [grid, mark, text].into_iter().map(Markup::from).collect()
}

/// The words of a row. What stands between two of them is no plain blank, which some programs
/// drop at the end of a span.
fn words(section: &Section, entry: &Entry, y: f64) -> Markup {
    let [first, second] = BASELINES.map(|baseline| y + baseline);
    let middle = f64::midpoint(first, second);
    let change = section.change(entry);
    if entry.is_prose() {
        let name = el("tspan").attr("class", "strong").text(format!("{}\u{2002}", entry.name));
        let line = el("text").attr("y", middle).child(name);
        return line.text(shortened(&change, LINE_MAX)).into();
    }
    let name = if change.is_empty() { middle } else { first };
    let (now, then) = (entry.now(), entry.then());
    let times = if then.is_empty() { now } else { format!("{now} → {then}") };
    let difference = entry.difference();
    let (figure, interval) = if entry.is_sure() {
        (difference.ratio, difference.interval)
    } else {
        (entry.range(), String::new())
    };
    let interval =
        if interval.is_empty() { String::new() } else { format!("\u{2002}({interval})") };
    let right = |y: f64| el("text").attr("x", "100%").attr("y", y).attr("text-anchor", "end");
    let strong = |text: &str| el("tspan").attr("class", "strong").text(text);
    let difference = right(second).child(strong(&figure));
    let difference = difference.child(classed("tspan", "dim").text(interval));
    [
        text(0.0, name, "strong", &entry.name, NAME_MAX),
        text(0.0, second, "dim", &change, NAME_MAX),
        right(first).text(times),
        difference,
    ]
    .into_iter()
    .map(Markup::from)
    .collect()
}

fn text(x: f64, y: f64, class: &'static str, text: &str, letters: usize) -> Element {
    classed("text", class).attr("x", x).attr("y", y).text(shortened(text, letters))
}
