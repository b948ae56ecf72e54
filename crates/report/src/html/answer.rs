//! The first picture of a page: all rows of the answer along one axis, from now to the change,
//! in a table that a telephone shows as lines.

use model::advice::Group;

use super::change_axis::{ChangeAxis, key};
use super::chart::{Tick, labels};
use super::markup::{Element, classed, el};
use crate::answer::{Entry, Screen, Section};

/// Where the letters of the axis stand.
const BASELINE: f64 = 13.0;

/// The table; nothing where there is no advice.
pub(super) fn table(screen: &Screen) -> Option<Element> {
    let sections = screen.sections();
    if sections.is_empty() {
        return None;
    }
    let axis = ChangeAxis::of(&sections);
    let bodies = sections.iter().map(|section| body(section, axis.as_ref()));
    let caption = el("caption").child(classed("span", "unseen").text(
        "Each operation with its best change: the time now and then, the difference, and both on \
         one axis on which faster is to the left",
    ));
    let table = classed("table", "answer").attr("role", "table").child(caption);
    Some(table.child(head(axis.as_ref())).children(bodies))
}

fn head(axis: Option<&ChangeAxis>) -> Element {
    let named = |class: &'static str, name: &str| {
        let name = classed("span", "unseen").text(name);
        classed("th", class).attr("scope", "col").attr("role", "columnheader").child(name)
    };
    let ticks: Vec<Tick> = axis.map_or_else(Vec::new, ChangeAxis::ticks);
    let labels = (!ticks.is_empty()).then(|| {
        classed("svg", "chart")
            .attr("width", "100%")
            .attr("height", 18)
            .attr("aria-hidden", "true")
            .child(labels(&ticks, BASELINE))
    });
    let marks = named("bar", "on one axis").children(labels);
    let row = el("tr").attr("role", "row").child(named("name", "operation and change"));
    let row = row.child(marks).child(named("times", "now → then"));
    el("thead").attr("role", "rowgroup").child(row.child(named("verdict", "difference")))
}

fn body(section: &Section, axis: Option<&ChangeAxis>) -> Element {
    let mark = classed("svg", "chart key").attr("width", 12).attr("height", 12);
    let mark = mark.attr("aria-hidden", "true").child(key(section.group));
    let heading = el("span").attr("class", class(section.group)).text(&section.heading);
    let heading = el("th")
        .attr("scope", "rowgroup")
        .attr("role", "rowheader")
        .attr("colspan", 4)
        .child(mark)
        .child(heading);
    let rows = section.entries.iter().map(|entry| row(section, entry, axis));
    let heading = classed("tr", "group").attr("role", "row").child(heading);
    el("tbody").attr("role", "rowgroup").child(heading).children(rows)
}

fn class(group: Group) -> &'static str {
    match group {
        Group::Do => "do",
        Group::OnlyIf | Group::Undecided => "maybe",
        Group::Leave => "leave",
    }
}

fn row(section: &Section, entry: &Entry, axis: Option<&ChangeAxis>) -> Element {
    let remark = entry.remark().map(|remark| classed("span", "remark").text(remark));
    let name = classed("th", "name").attr("scope", "row").attr("role", "rowheader");
    let name = name.child(el("b").text(&entry.name)).text(" ");
    let row = el("tr").attr("role", "row");
    let change = section.change(entry);
    if entry.is_prose() {
        return classed("tr", "prose")
            .attr("role", "row")
            .child(name.attr("colspan", 4).text(change).children(remark));
    }
    let change = classed("span", "change").text(change);
    let name = name.child(change).children(remark);
    let bar = axis.map(|axis| {
        let drawn = axis.row(section.group, Some(entry));
        let bar = classed("svg", "chart").attr("width", "100%").attr("height", "100%");
        bar.attr("aria-hidden", "true").child(drawn)
    });
    let bar = classed("td", "bar").attr("role", "cell").children(bar);
    row.child(name).child(bar).child(times(entry)).child(verdict(entry))
}

fn times(entry: &Entry) -> Element {
    let times = classed("td", "times").attr("role", "cell").text(entry.now());
    match entry.then() {
        then if then.is_empty() => times,
        then => times.text(" → ").child(el("b").text(then)),
    }
}

fn verdict(entry: &Entry) -> Element {
    let cell = classed("td", "verdict").attr("role", "cell");
    if !entry.is_sure() {
        return cell.text(entry.range());
    }
    let difference = entry.difference();
    let interval = (!difference.interval.is_empty())
        .then(|| classed("span", "interval-text").text(difference.in_brackets()));
    cell.child(el("b").text(difference.ratio)).children(interval)
}
