//! What all charts share: their frame, their rows, and shapes that are as wide as the page.
//!
//! A chart has no width of its own. Places along its axis are percentages, and what is
//! drawn by coordinates is stretched to the width that there is, while strokes and letters
//! keep their size: it is as legible on a telephone as on paper.

use std::fmt::Display;

use super::markup::{Element, Markup, classed, el};
use super::scale::Scale;
use super::table::Table;

/// Units across what is drawn by coordinates, and down it.
pub(super) const ACROSS: f64 = 1000.0;
pub(super) const DOWN: f64 = 100.0;

/// Letters that fit into a line on a telephone, and on anything wider.
const CHARS_NARROW: usize = 50;
const CHARS_WIDE: usize = 96;
/// The height of a line of text, and where in it the letters stand.
const LINE: f64 = 20.0;
const BASELINE: f64 = 14.0;
/// What is left free below a row.
const BELOW_ROW: f64 = 8.0;
/// Nearer to an end than this, a mark's label would stand out beyond it.
const NEAR_END: f64 = 0.07;
/// The width of a letter, as a part of the width of a chart on a telephone.
const LETTER: f64 = 0.02;
/// A file's name has at most so many letters.
const FILE_NAME_MAX: usize = 80;
/// How the class of a figure ends that there is no room for on a telephone.
const WIDE: &str = "wide";

/// The charts of a page: each has its own id, and how to read a kind of them is said once.
#[derive(Default)]
pub(super) struct Ids {
    charts: usize,
    readings: Vec<&'static Reading>,
}

/// How a kind of chart is read.
#[derive(PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) text: &'static str,
}

impl Ids {
    fn next(&mut self) -> String {
        self.charts += 1;
        format!("chart-{}", self.charts)
    }

    /// How to read the charts that were drawn so far, each kind once.
    pub(super) fn readings(&self) -> Markup {
        if self.readings.is_empty() {
            return Markup::default();
        }
        let entry = |reading: &&Reading| {
            let text = el("dd").attr("id", reading.id).text(reading.text);
            [el("dt").text(reading.title), text]
        };
        let list = classed("dl", "readings").children(self.readings.iter().flat_map(entry));
        let summary = el("summary").text("How to read the charts");
        el("details").child(summary).child(list).into()
    }
}

/// A chart, and the same as a table.
pub(super) struct Chart {
    /// What it is of, for the name of a file: `sqlite`.
    subject: String,
    title: String,
    /// May be empty.
    about: String,
    reading: Option<&'static Reading>,
    pub(super) drawing: Drawing,
    table: Table,
}

impl Chart {
    pub(super) fn new(subject: &str, title: &str, drawing: Drawing, table: Table) -> Self {
        let [subject, title, about] = [subject, title, ""].map(str::to_owned);
        Self { subject, title, about, reading: None, drawing, table }
    }

    /// With something to say of this one alone.
    pub(super) fn about(self, about: String) -> Self {
        Self { about, ..self }
    }

    /// With what tells how to read it.
    pub(super) fn read_by(self, reading: &'static Reading) -> Self {
        Self { reading: Some(reading), ..self }
    }

    pub(super) fn figure(self, ids: &mut Ids) -> Markup {
        let Self { subject, title, about, reading, drawing, table } = self;
        let id = ids.next();
        let mut labelled_by = vec![format!("{id}-title")];
        let mut caption = el("figcaption").child(el("h3").attr("id", &labelled_by[0]).text(&title));
        if !about.is_empty() {
            labelled_by.push(format!("{id}-about"));
            caption = caption.child(el("p").attr("id", &labelled_by[1]).text(&about));
        }
        if let Some(reading) = reading {
            labelled_by.push(reading.id.to_owned());
            if !ids.readings.contains(&reading) {
                ids.readings.push(reading);
            }
        }
        let summary = el("summary")
            .text("The same as a table")
            .child(classed("span", "unseen").text(format!(": {title}")));
        el("figure")
            .attr("id", &id)
            .attr("data-file", file_name(&subject, &title))
            .child(caption)
            .child(drawing.svg(&labelled_by.join(" ")))
            .child(el("details").child(summary).child(table.scrolling(&title)))
            .into()
    }
}

/// The name of a chart's file without its ending: `sqlite-where-the-time-goes`.
pub(super) fn file_name(subject: &str, title: &str) -> String {
    let whole = format!("{subject} {title}").to_lowercase();
    let words = whole.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words.collect::<Vec<_>>().join("-");
    name.chars().take(FILE_NAME_MAX).collect()
}

/// What is drawn, and how high it is.
#[derive(Default)]
pub(super) struct Drawing {
    pub(super) height: f64,
    pub(super) parts: Markup,
}

impl Drawing {
    /// A line of words.
    pub(super) fn words(class: &'static str, text: &str) -> Self {
        let line = classed("text", class).attr("y", BASELINE).text(text);
        Self { height: LINE + BELOW_ROW, parts: line.into() }
    }

    /// This one, with another below it.
    pub(super) fn above(mut self, other: Self) -> Self {
        let below = el("svg")
            .attr("y", self.height)
            .attr("width", "100%")
            .attr("height", other.height)
            .attr("overflow", "visible");
        self.parts.push(below.child(other.parts));
        Self { height: self.height + other.height, parts: self.parts }
    }

    fn svg(self, labelled_by: &str) -> Element {
        let Self { height, parts } = self;
        classed("svg", "chart")
            .attr("xmlns", "http://www.w3.org/2000/svg")
            .attr("role", "img")
            .attr("aria-labelledby", labelled_by)
            .attr("width", "100%")
            .attr("height", height)
            .child(parts)
    }
}

/// A mark on an axis: where it is, from 0 to 1, and what is written there.
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
    /// Whether its label is rather written than its neighbours'.
    pub(super) is_kept: bool,
}

/// The marks of a scale.
pub(super) fn ticks(scale: &Scale, values: &[f64], label: impl Fn(f64) -> String) -> Vec<Tick> {
    values
        .iter()
        .map(|value| Tick {
            at: scale.at(*value),
            label: label(*value),
            // Of an axis of ratios.
            is_kept: (*value - 1.0).abs() < 1e-9,
        })
        .collect()
}

/// Rows along one axis, each with its name and its figures above what is drawn.
pub(super) struct Rows {
    ticks: Vec<Tick>,
    /// What is marked from the first row to the last: from where to where.
    behind: Option<[f64; 2]>,
    y: f64,
    parts: Markup,
}

/// What stands at the right of a row's name: texts, each with its class.
pub(super) type Figures = Vec<(&'static str, String)>;

impl Rows {
    pub(super) fn new(ticks: Vec<Tick>) -> Self {
        Self { ticks, behind: None, y: LINE, parts: Markup::default() }
    }

    /// With a part of the axis marked behind all rows.
    pub(super) fn with_behind(self, from: f64, to: f64) -> Self {
        Self { behind: Some([from, to]), ..self }
    }

    /// What is drawn above the rows and takes that much room, given where its upper end is.
    pub(super) fn above(&mut self, height: f64, draw: impl FnOnce(f64) -> Markup) {
        self.parts.push(draw(self.y));
        self.y += height;
    }

    /// A line above the rows that follow.
    pub(super) fn heading(&mut self, text: &str) {
        self.y += BELOW_ROW / 2.0;
        for Length { class, chars, .. } in lengths(text.chars().count()) {
            let line = classed("text", class).attr("y", self.y + BASELINE);
            self.parts.push(line.child(classed("tspan", "dim").text(cut(text, chars))));
        }
        self.y += LINE;
    }

    /// A row of that height, given where its upper end is.
    pub(super) fn row(
        &mut self,
        name: &str,
        figures: &[(&'static str, String)],
        height: f64,
        draw: impl FnOnce(f64) -> Markup,
    ) {
        let y = self.y + BASELINE;
        let taken = |is_wide: bool| -> usize {
            let shown = figures.iter().filter(|(class, _)| is_wide || !class.ends_with(WIDE));
            shown.map(|(_, text)| text.chars().count() + 1).sum()
        };
        for Length { class, chars, is_wide } in lengths(name.chars().count() + taken(false)) {
            let text = cut(name, chars.saturating_sub(taken(is_wide) + 1).max(12));
            self.parts.push(classed("text", class).attr("y", y).text(text));
        }
        // Written out, for to shift the texts would shift their end as well.
        let gap = |position: usize| if position == 0 { "" } else { "\u{2002}" };
        let spans = figures.iter().enumerate().map(|(position, (class, text))| {
            classed("tspan", class).text(gap(position)).text(text)
        });
        let line = el("text").attr("x", "100%").attr("y", y).attr("text-anchor", "end");
        self.parts.push(line.children(spans));
        self.parts.push(draw(self.y + LINE));
        self.y += LINE + height + BELOW_ROW;
    }

    /// All of them, with the axis behind, below, and above where it is far.
    pub(super) fn finish(self) -> Drawing {
        let Self { ticks, behind, y, parts } = self;
        let behind = behind.map(|[from, to]| band(from, to, LINE, y - LINE, "behind"));
        let mut all: Markup = behind.into_iter().collect();
        all.push(ticks.iter().map(|tick| upright(tick.at, LINE, y, "grid")).collect::<Markup>());
        all.push(labels(&ticks, BASELINE));
        all.push(parts);
        if y > 12.0 * LINE {
            all.push(labels(&ticks, y + BASELINE));
        }
        Drawing { height: y + LINE, parts: all }
    }
}

/// What is written at the marks, as far as there is room for it on a telephone.
pub(super) fn labels(ticks: &[Tick], y: f64) -> Markup {
    let mut kept: Vec<&Tick> = Vec::new();
    for tick in ticks {
        while let Some(last) = kept.last().filter(|last| span(last)[1] + LETTER > span(tick)[0]) {
            if !tick.is_kept || last.is_kept {
                break;
            }
            kept.pop();
        }
        if kept.last().is_none_or(|last| span(last)[1] + LETTER <= span(tick)[0]) {
            kept.push(tick);
        }
    }
    kept.into_iter().map(|tick| label(tick.at, y, &tick.label)).collect()
}

/// From where to where a mark's label reaches on a telephone.
fn span(tick: &Tick) -> [f64; 2] {
    let width = width(&tick.label);
    let from = match anchor(tick.at, &tick.label) {
        "start" => tick.at,
        "end" => tick.at - width,
        _ => tick.at - width / 2.0,
    };
    [from, from + width]
}

/// A text at a place along the axis, within its ends.
pub(super) fn label(at: f64, y: f64, text: &str) -> Element {
    let place = classed("text", "dim").attr("x", percent(at)).attr("y", y);
    place.attr("text-anchor", anchor(at, text)).text(text)
}

/// Which part of a text stands at a place, so that it is within both ends.
fn anchor(at: f64, text: &str) -> &'static str {
    let near = NEAR_END.max(width(text) / 2.0);
    match at {
        at if at < near => "start",
        at if at > 1.0 - near => "end",
        _ => "middle",
    }
}

/// How wide a text is on a telephone.
fn width(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

/// A text whose middle is at a place along the axis.
pub(super) fn centred(at: f64, y: f64, class: &'static str, text: &str) -> Element {
    let place = classed("text", class).attr("x", percent(at)).attr("y", y);
    place.attr("text-anchor", "middle").text(text)
}

/// A line from top to bottom.
pub(super) fn upright(
    at: f64,
    top: impl Display,
    bottom: impl Display,
    class: &'static str,
) -> Element {
    let x = percent(at);
    classed("line", class).attr("x1", &x).attr("x2", &x).attr("y1", top).attr("y2", bottom)
}

/// A line from left to right.
pub(super) fn level(from: f64, to: f64, y: impl Display, class: &'static str) -> Element {
    let line = classed("line", class).attr("x1", percent(from)).attr("x2", percent(to));
    line.attr("y1", &y).attr("y2", &y)
}

/// A circle around a place.
pub(super) fn circle(at: f64, y: impl Display, radius: f64, class: &'static str) -> Element {
    classed("circle", class).attr("cx", percent(at)).attr("cy", y).attr("r", radius)
}

/// A rectangle between two places.
pub(super) fn band(from: f64, to: f64, top: f64, height: f64, class: &'static str) -> Element {
    let rect = classed("rect", class).attr("x", percent(from)).attr("y", top);
    rect.attr("width", percent((to - from).max(0.0))).attr("height", height)
}

/// What is drawn by coordinates, from 0 to [`ACROSS`] and to [`DOWN`].
pub(super) fn plot(top: f64, height: f64, parts: impl Into<Markup>) -> Element {
    el("svg")
        .attr("y", top)
        .attr("width", "100%")
        .attr("height", height)
        .attr("viewBox", format!("0 0 {ACROSS} {DOWN}"))
        .attr("preserveAspectRatio", "none")
        .attr("overflow", "visible")
        .child(parts)
}

/// A path through what is drawn by coordinates.
pub(super) fn path(class: &'static str, data: impl Display) -> Element {
    classed("path", class).attr("d", data)
}

/// Dots, from 0 to 1 across and down: lines without length, whose round ends are seen. A
/// run has tens of thousands, so each is written in a few letters, from the one before.
pub(super) fn dots(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut data = String::from("M0 0");
    let mut last = [0, 0];
    for point in points {
        let [x, y] = point;
        let next = [(x * ACROSS).round() as i64, (y * DOWN).round() as i64];
        let (dx, dy) = (next[0] - last[0], next[1] - last[1]);
        let gap = if dy < 0 { "" } else { " " };
        data += &format!("m{dx}{gap}{dy}h0");
        last = next;
    }
    data
}

/// A line through points, from 0 to 1 across and down.
pub(super) fn line(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut data = String::new();
    for [x, y] in points {
        let (x, y) = ((x * ACROSS).round(), (y * DOWN).round());
        data += &format!("{}{x} {y}", if data.is_empty() { "M" } else { "L" });
    }
    data
}

/// A place along the axis.
pub(super) fn percent(at: f64) -> String {
    format!("{}%", (at * 10_000.0).round() / 100.0)
}

/// A length in which a name is written, and for pages of which width.
struct Length {
    class: &'static str,
    chars: usize,
    is_wide: bool,
}

/// The lengths of a line that has so many letters on a telephone.
fn lengths(chars: usize) -> Vec<Length> {
    let wide = |class| Length { class, chars: CHARS_WIDE, is_wide: true };
    if chars < CHARS_NARROW {
        vec![wide("name")]
    } else {
        let narrow = Length { class: "name narrow", chars: CHARS_NARROW, is_wide: false };
        vec![wide("name wide"), narrow]
    }
}

fn cut(text: &str, chars: usize) -> std::borrow::Cow<'_, str> {
    model::printable::shortened(text, chars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_written_from_one_to_the_next() {
        assert_eq!(dots([[0.5, 0.5], [0.51, 0.2], [0.1, 0.25]]), "M0 0m500 50h0m10-30h0m-410 5h0");
        assert_eq!(line([[0.0, 1.0], [0.5, 0.0]]), "M0 100L500 0");
    }

    #[test]
    fn a_label_near_an_end_stays_within_it() {
        let anchor = |at| Markup::from(label(at, 0.0, "10 µs")).into_string();
        let long = Markup::from(label(0.9, 0.0, "1.5× slower")).into_string();
        assert!(long.contains("end"), "{long}");
        assert!(anchor(0.01).contains("start"));
        assert!(anchor(0.5).contains("middle"));
        assert!(anchor(0.99).contains("end"));
    }

    #[test]
    fn a_name_that_is_too_long_for_a_telephone_is_there_in_two_lengths() {
        let rows = |name: &str| {
            let mut rows = Rows::new(Vec::new());
            rows.row(name, &[("strong", "1 µs".to_owned())], 10.0, |_| Markup::default());
            rows.finish().parts.into_string()
        };
        assert!(!rows("held on disk").contains("narrow"));
        let long = "x".repeat(200);
        let drawn = rows(&long);
        assert!(drawn.contains("name wide") && drawn.contains("name narrow"));
        assert!(!drawn.contains(&"x".repeat(96)));
    }

    #[test]
    fn labels_do_not_meet_on_a_telephone_and_the_same_is_always_among_them() {
        let tick =
            |at: f64, label: &str| Tick { at, label: label.to_owned(), is_kept: label == "same" };
        let written = |ticks: &[Tick]| {
            let drawn = labels(ticks, 0.0).into_string();
            ticks.iter().filter(|t| drawn.contains(&format!(">{}<", t.label))).count()
        };
        assert_eq!(written(&[tick(0.2, "×0.5"), tick(0.5, "same"), tick(0.8, "×2")]), 3);
        assert_eq!(written(&[tick(0.2, "×0.5"), tick(0.25, "×0.6"), tick(0.8, "×2")]), 2);
        let close = [tick(0.45, "×0.9"), tick(0.5, "same"), tick(0.55, "×1.1")];
        assert_eq!(written(&close), 1);
        assert!(labels(&close, 0.0).into_string().contains("same"));
    }
}
