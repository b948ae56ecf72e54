//! What a run's page opens with: what was found, as a title and as a picture, and what else one
//! must know.

use model::run::Run;

use super::answer;
use super::markup::{Element, Markup, classed, el};
use crate::answer::{Screen, headline};
use crate::rest::Rest;
use crate::subject::Subject;
use crate::text::WIDTH;
use crate::{check, manners};

/// The title, and what must be known of the run as a whole.
pub(super) fn title_and_warnings(subject: Subject, screen: &Screen) -> Markup {
    let run = subject.run;
    let mut out = Markup::from(title(subject, screen));
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

/// The first picture: the advice along one axis. A check is shown as on its screen.
pub(super) fn answer(Subject { run, analysis }: Subject, screen: &Screen) -> Markup {
    if let Some(styled) = check::findings(run, analysis, Rest::Nowhere, WIDTH) {
        let plain = anstream::adapter::strip_str(&styled).to_string();
        let pre = el("pre").attr("tabindex", 0).attr("role", "region").attr("aria-label", "Check");
        return pre.children(plain.lines().map(|line| el("span").text(line))).into();
    }
    let nothing_known = screen.nothing_known.iter().map(|text| el("p").prose(text));
    nothing_known.chain(answer::table(screen)).collect()
}

/// What else one must know.
pub(super) fn notes(Subject { run, analysis }: Subject, screen: &Screen) -> Markup {
    if check::is_shown(run, analysis) {
        return Markup::default();
    }
    let opening = screen.opening.iter().map(|text| classed("p", "facts").prose(text));
    opening.chain((!screen.notes.is_empty()).then(|| notes_list(screen))).collect()
}

/// What was measured, where and when.
pub(super) fn subject_line(run: &Run) -> String {
    let studies: Vec<&str> = run.studies.iter().map(|study| study.name.as_str()).collect();
    let places: Vec<&str> = run.places.iter().map(|place| place.label.as_str()).collect();
    format!("{} on {}", studies.join(", "), places.join(", "))
}

fn title(subject: Subject, screen: &Screen) -> Element {
    let run = subject.run;
    let facts = format!("{}: {}", subject_line(run), screen.extent);
    let began = el("time").attr("datetime", &run.run.started).text(day(&run.run.started));
    let line = classed("p", "facts").text(facts).text(" · ").child(began);
    let line = line.text(format!(" · iotoll {}", run.run.version));
    let found = headline(subject).unwrap_or_else(|| subject_line(run));
    el("header").child(el("h1").text(found)).child(line)
}

/// `2026-11-22 14:03 UTC` of a time in RFC 3339; anything else as it is.
pub(super) fn day(started: &str) -> String {
    match (started.get(..10), started.get(11..16), started.ends_with('Z')) {
        (Some(day), Some(minute), true) => format!("{day} {minute} UTC"),
        _ => started.to_owned(),
    }
}

fn notes_list(screen: &Screen) -> Element {
    let entries = screen
        .notes
        .iter()
        .flat_map(|note| [el("dt").text(note.label), el("dd").prose(note.parts.join(" "))]);
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
