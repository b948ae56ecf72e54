//! What a run's page opens with: the screen that `compare` ends with, all of it.

use model::analysis::Advice;
use model::run::Run;

use super::forest;
use super::markup::{Element, Markup, classed, el};
use super::table::scrolling;
use crate::answer::{Screen, ScreenRow, TypicalTime};
use crate::manners;
use crate::subject::Subject;

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

/// The advice, the table and the notes.
pub(super) fn answer(Subject { run, analysis }: Subject) -> Markup {
    let screen = Screen::of(run, analysis);
    let mut out = Markup::default();
    out.push(screen.nothing_known.iter().map(|text| el("p").prose(text)).collect::<Markup>());
    if !screen.advice.is_empty() {
        out.push(advice(&screen));
    }
    if !screen.rows.is_empty() {
        out.push(scrolling("The answer", table(&screen)));
    }
    if !screen.notes.is_empty() {
        out.push(notes(&screen));
    }
    out
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

fn advice(screen: &Screen) -> Element {
    let entries = screen.advice.iter().flat_map(|(advice, word, text)| {
        [el("dt").attr("class", advice_class(*advice)).text(word), el("dd").prose(text)]
    });
    classed("dl", "advice").children(entries)
}

fn advice_class(advice: Advice) -> &'static str {
    match advice {
        Advice::Do => "do",
        Advice::Maybe | Advice::Undecided => "maybe",
        Advice::Leave => "leave",
    }
}

fn table(screen: &Screen) -> Element {
    let mut heads: Vec<Element> = Vec::new();
    for (column, head) in screen.heads.iter().enumerate() {
        heads.push(if column == 0 {
            el("th").attr("scope", "col").child(classed("span", "unseen").text("operation"))
        } else {
            el("th").attr("scope", "col").attr("class", "n").text(head)
        });
    }
    let compared = ["factor", "worth it", "why"].into_iter().filter(|_| screen.compares);
    heads.extend(compared.map(|head| el("th").attr("scope", "col").text(head)));
    let rows = screen.rows.iter().map(|row| table_row(row, screen.compares));
    let head = el("thead").child(el("tr").children(heads));
    classed("table", "answer").child(head).child(el("tbody").children(rows))
}

fn table_row(row: &ScreenRow, compares: bool) -> Element {
    let typical_times = row.typical_times.iter().map(|typical| match typical {
        None => classed("td", "n"),
        Some(TypicalTime { text, verdict: None }) => classed("td", "n").child(el("b").text(text)),
        Some(TypicalTime { text, verdict: Some(verdict) }) => {
            classed("td", "n").child(el("span").attr("class", forest::class(*verdict)).text(text))
        }
    });
    let name = el("th").attr("scope", "row").text(&row.name);
    let cells = el("tr").child(name).children(typical_times);
    if !compares {
        return cells;
    }
    let threshold = el("span").attr("class", advice_class(row.advice)).text(&row.threshold);
    cells
        .child(classed("td", "f").text(&row.factor))
        .child(el("td").child(threshold))
        .child(classed("td", "dim").text(&row.cause))
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
