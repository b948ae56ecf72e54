//! All that was found of one study, behind a line that says its answer: charts, why its
//! combinations differ, how to make each change, what became of the data, and what its ways of
//! doing it promise.

use model::analysis::{ArmResult, Next};
use model::cause::Cause;
use model::description::StudyDescription;
use model::grouped::in_groups;
use units::{capitalised, three_digits};

use super::block_times::BlockTimes;
use super::chart::{Chart, Ids};
use super::curves::Curves;
use super::markup::{Element, Markup, classed, el};
use super::over_time::{self, Rounds};
use super::{clients, forest, latency, parameters, parts, recipes, time};
use crate::subject::Subject;
use crate::{answer, integrity, why};

/// The charts of a study, in their order.
pub(super) fn charts(
    subject: Subject,
    study: &StudyDescription,
    typical_times: &BlockTimes,
    rounds: Rounds,
) -> Vec<Chart> {
    let name = study.name.as_str();
    let charts = [
        forest::chart(subject, name),
        time::chart(subject, name),
        latency::chart(subject, name),
        over_time::chart(subject, name, typical_times, rounds),
        parts::chart(subject, study),
    ];
    let curves = parameters::curves(subject, name).into_iter().filter_map(Curves::chart);
    let together = clients::curves(subject, study).and_then(Curves::chart);
    charts.into_iter().flatten().chain(curves).chain(together).collect()
}

/// The section of a study, of which the first line is in sight until it is opened.
pub(super) fn section(
    subject: Subject,
    study: &StudyDescription,
    charts: Vec<Chart>,
    ids: &mut Ids,
    id: &str,
) -> Element {
    let name = study.name.as_str();
    let arms: Vec<&ArmResult> = subject.arms_of(name).map(|(_, arm)| arm).collect();
    let figures: Vec<Markup> = charts.into_iter().map(|chart| chart.figure(ids)).collect();
    let summary = el("summary")
        .child(el("h2").text(name))
        .child(classed("span", "gist").text(gist(subject, name)));
    // A link to what is inside opens it, without a script too.
    let content = el("div")
        .attr("id", id)
        .child(classed("p", "about").text(sentence(&study.about)))
        .children(figures)
        .child(causes(subject, &arms))
        .child(recipes::of_study(subject, name))
        .child(list("Data integrity", &integrity::sentences(study, &arms)))
        .child(list("Durability", &integrity::promised(study, &arms)));
    classed("details", "study").child(summary).child(content)
}

/// What a study takes now, and after the first change that is advised: `11.3 ms → 769 µs`.
fn gist(subject: Subject, study: &str) -> String {
    let entries = answer::entries(subject);
    let mut told: Vec<(&str, String)> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.advice.study == study) {
        let name = entry.name.strip_prefix(study).unwrap_or(&entry.name).trim();
        if told.iter().all(|(known, _)| *known != name) {
            let is_better = entry.advice.is_a_change() && !entry.then().is_empty();
            let then = if is_better { format!(" → {}", entry.then()) } else { String::new() };
            told.push((name, format!("{}{then}", entry.now())));
        }
    }
    let parts = told.into_iter().map(|(name, times)| format!("{name} {times}").trim().to_owned());
    parts.collect::<Vec<_>>().join(", ")
}

fn sentence(text: &str) -> String {
    let end = if text.ends_with('.') { "" } else { "." };
    capitalised(text) + end
}

/// A heading with sentences; nothing where there are none.
pub(super) fn list(title: &str, sentences: &[String]) -> Markup {
    if sentences.is_empty() {
        return Markup::default();
    }
    let items = sentences.iter().map(|text| el("li").text(text));
    [el("h3").text(title), el("ul").children(items)].into_iter().collect()
}

/// The causes, those of one kind together: the first in words, the others and the counters of
/// all behind a line.
fn causes(subject: Subject, arms: &[&ArmResult]) -> Markup {
    let causes = why::causes(subject, arms);
    if causes.is_empty() {
        return Markup::default();
    }
    let kinds = in_groups(causes.iter().map(|cause| (&cause.1.code, cause)));
    let items = kinds.iter().map(|(_, kind)| el("li").prose(&kind[0].0).child(behind(kind)));
    let mut out = Markup::from(el("h3").text("Why"));
    out.push(el("ul").children(items));
    out.push(why::nexts(subject, arms).into_iter().map(next).collect::<Markup>());
    out
}

/// The other causes of a kind, and the counters of each.
fn behind(kind: &[&(String, &Cause)]) -> Markup {
    let mut parts: Vec<Element> = Vec::new();
    for (position, (text, cause)) in kind.iter().enumerate() {
        if position > 0 {
            parts.push(el("p").prose(text));
        }
        let figures = evidence(cause);
        if !figures.is_empty() {
            parts.push(classed("p", "evidence").text(figures));
        }
    }
    if parts.is_empty() {
        return Markup::default();
    }
    let more = match kind.len() - 1 {
        0 => "Counters".to_owned(),
        more => format!("{more} more of this kind, and counters"),
    };
    classed("details", "counters").child(el("summary").text(more)).children(parts).into()
}

/// The figures of a cause, by their names.
fn evidence(cause: &Cause) -> String {
    let figures = cause.evidence.iter().map(|(name, value)| {
        let value = if value.fract() == 0.0 && value.abs() < 1e15 {
            format!("{value:.0}")
        } else {
            three_digits(*value)
        };
        format!("{} {value}", name.replace('_', " "))
    });
    let text = figures.collect::<Vec<_>>().join(", ");
    if text.is_empty() { text } else { format!("{}: {text}", cause.code) }
}

fn next(next: &Next) -> Element {
    let told = el("p").prose(&next.text);
    match &next.command {
        Some(command) => {
            let text = told.text(" To measure it:");
            el("div").child(text).child(command_line(command))
        }
        None => told,
    }
}

/// A command to be copied.
pub(super) fn command_line(command: &str) -> Element {
    let label = "Shell command";
    let pre = el("pre").attr("tabindex", 0).attr("role", "region").attr("aria-label", label);
    pre.child(el("code").text(command))
}
