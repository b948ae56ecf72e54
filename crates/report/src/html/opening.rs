//! What a run's page opens with: the screen that `compare` ends with, all of it.

use model::advice::Group;
use model::run::Run;

use super::markup::{Element, Markup, classed, el};
use super::table::scrolling;
use crate::answer::{Screen, ScreenEntry};
use crate::subject::Subject;
use crate::{how, manners};

/// The title, and what must be known of the run as a whole.
pub(super) fn title_and_warnings(subject: Subject) -> Markup {
    let Subject { run, analysis } = subject;
    let screen = Screen::of(run, analysis);
    let mut out = Markup::from(title(run, &screen));
    if let Some(why) = &run.run.ended_early {
        out.push(classed("p", "warning").text(format!("Ended early: {why}.")));
    }
    let left_out = manners::left_out_sentences(&run.run);
    out.push(left_out.map(|text| classed("p", "warning").prose(text)).collect::<Markup>());
    if run.run.interrupted {
        let text = "The run was interrupted: these are its results so far.";
        out.push(classed("p", "warning").text(text));
    }
    out
}

/// The advice and the notes.
pub(super) fn answer(Subject { run, analysis }: Subject) -> Markup {
    let screen = Screen::of(run, analysis);
    let mut out = Markup::default();
    out.push(screen.nothing_known.iter().map(|text| el("p").prose(text)).collect::<Markup>());
    out.push(
        screen.opening.iter().map(|text| classed("p", "facts").prose(text)).collect::<Markup>(),
    );
    if !screen.sections.is_empty() {
        out.push(scrolling("The answer", table(&screen)));
    }
    if !screen.notes.is_empty() {
        out.push(notes(&screen));
    }
    let changes = how::changes(Subject { run, analysis });
    if !changes.is_empty() {
        out.push(recipes(&changes));
    }
    out
}

/// How each change is made, behind a line to open.
fn recipes(changes: &[how::Change]) -> Element {
    let entries = changes.iter().flat_map(|change| {
        let lines = change.steps.iter().flat_map(how::Step::lines);
        let lines = lines
            .map(|(word, text)| el("div").child(el("b").text(format!("{word}: "))).prose(text));
        [el("dt").text(&change.name), el("dd").children(lines)]
    });
    el("details")
        .child(el("summary").text("How to make each change, check it and undo it"))
        .child(classed("dl", "recipes").children(entries))
}

/// What was measured, where and when.
pub(super) fn subject_line(run: &Run) -> String {
    let studies: Vec<&str> = run.studies.iter().map(|study| study.name.as_str()).collect();
    let places: Vec<&str> = run.places.iter().map(|place| place.label.as_str()).collect();
    format!("{} on {}", studies.join(", "), places.join(", "))
}

fn title(run: &Run, screen: &Screen) -> Element {
    let facts = format!("iotoll {}: {}", run.run.version, screen.extent);
    let began = el("time").attr("datetime", &run.run.started).text(day(&run.run.started));
    let line = classed("p", "facts").text(facts).text(" · ").child(began);
    el("header").child(el("h1").text(subject_line(run))).child(line)
}

/// `2026-11-22 14:03 UTC` of a time in RFC 3339; anything else as it is.
pub(super) fn day(started: &str) -> String {
    match (started.get(..10), started.get(11..16), started.ends_with('Z')) {
        (Some(day), Some(minute), true) => format!("{day} {minute} UTC"),
        _ => started.to_owned(),
    }
}

fn class(group: Group) -> &'static str {
    match group {
        Group::Do => "do",
        Group::OnlyIf | Group::Undecided => "maybe",
        Group::Leave => "leave",
    }
}

/// The sections, each with its heading as a row.
fn table(screen: &Screen) -> Element {
    let heads = ["", "now", "then", "difference", "why"];
    let heads = heads.map(|head| match head {
        "" => el("th").attr("scope", "col").child(classed("span", "unseen").text("operation")),
        head => el("th").attr("scope", "col").text(head),
    });
    let head = el("thead").child(el("tr").children(heads));
    let bodies = screen.sections.iter().map(|section| {
        let heading = el("span").attr("class", class(section.group)).text(&section.heading);
        let heading = el("th").attr("scope", "rowgroup").attr("colspan", "5").child(heading);
        let rows = section.entries.iter().map(table_row);
        el("tbody").child(el("tr").child(heading)).children(rows)
    });
    classed("table", "answer").child(head).children(bodies)
}

fn table_row(entry: &ScreenEntry) -> Element {
    // A line of its own, so that the figures stay in sight on a telephone.
    let change = classed("span", "change").text(&entry.change);
    let name = el("th").attr("scope", "row").text(&entry.name).child(change);
    let remark = entry.remark.as_ref().map_or_else(String::new, |remark| format!(" {remark}"));
    let figure = if entry.is_sure {
        format!("{} ({})", entry.figure, entry.interval)
    } else {
        entry.range.clone()
    };
    el("tr")
        .child(name)
        .child(classed("td", "n").text(&entry.now))
        .child(classed("td", "n").child(el("b").text(&entry.then)))
        .child(classed("td", "f").text(figure).child(classed("span", "dim").text(remark)))
        .child(classed("td", "dim").text(&entry.cause))
}

fn notes(screen: &Screen) -> Element {
    let entries = screen
        .notes
        .iter()
        .flat_map(|(word, parts)| [el("dt").text(word), el("dd").prose(parts.join(" "))]);
    classed("dl", "notes").children(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_to_the_minute_and_anything_else_as_it_is() {
        assert_eq!(day("2026-11-22T14:03:59Z"), "2026-11-22 14:03 UTC");
        assert_eq!(day("2026-11-22T14:03:59.123Z"), "2026-11-22 14:03 UTC");
        assert_eq!(day("yesterday"), "yesterday");
        assert_eq!(day("2026–11–22 at noonZ"), "2026–11–22 at noonZ");
    }
}
