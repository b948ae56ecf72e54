//! All that was found of one study: its charts, why its arms differ, what became of the
//! data, and what its ways of doing it promise.

use model::analysis::{ArmResult, Next};
use model::cause::Cause;
use model::description::StudyDescription;
use units::three_digits;

use super::block_times::BlockTimes;
use super::chart::Ids;
use super::curves::Curves;
use super::markup::{Element, Markup, classed, el};
use super::{clients, forest, latency, over_time, parameters, parts, time};
use crate::subject::Subject;
use crate::{integrity, why};

/// The section of a study.
pub(super) fn section(
    subject: Subject,
    study: &StudyDescription,
    typical_times: &BlockTimes,
    ids: &mut Ids,
    id: &str,
) -> Element {
    let name = study.name.as_str();
    let arms: Vec<&ArmResult> =
        subject.analysis.arms.iter().filter(|arm| arm.study == name).collect();
    let head = el("h2").attr("id", id).text(name).child(classed("span", "about").text(": "));
    let head = head.child(classed("span", "about").text(&study.about));
    let charts = [
        forest::chart(subject, name, typical_times),
        latency::chart(subject, name),
        over_time::chart(subject, name, typical_times),
        time::chart(subject, name),
        parts::chart(subject, study),
    ];
    let curves = parameters::curves(subject, name).into_iter().filter_map(Curves::chart);
    let together = clients::curves(subject, study).and_then(Curves::chart);
    let charts = charts.into_iter().flatten().chain(curves).chain(together);
    let figures: Vec<Markup> = charts.map(|chart| chart.figure(ids)).collect();
    el("section")
        .attr("aria-labelledby", id)
        .child(head)
        .children(figures)
        .child(causes(subject, &arms))
        .child(list("Data integrity", &integrity::sentences(study, &arms)))
        .child(list("Durability", &integrity::promised(study, &arms)))
}

/// A heading with sentences; nothing where there are none.
pub(super) fn list(title: &str, sentences: &[String]) -> Markup {
    if sentences.is_empty() {
        return Markup::default();
    }
    let items = sentences.iter().map(|text| el("li").text(text));
    [el("h3").text(title), el("ul").children(items)].into_iter().collect()
}

fn causes(subject: Subject, arms: &[&ArmResult]) -> Markup {
    let causes = why::causes(subject, arms);
    if causes.is_empty() {
        return Markup::default();
    }
    let items = causes.iter().map(|(text, cause)| el("li").prose(text).child(evidence(cause)));
    let mut out = Markup::from(el("h3").text("Why"));
    out.push(el("ul").children(items));
    out.push(why::nexts(subject, arms).into_iter().map(next).collect::<Markup>());
    out
}

/// The figures of a cause, by their names.
fn evidence(cause: &Cause) -> Element {
    let figures = cause.evidence.iter().map(|(name, value)| {
        let value = if value.fract() == 0.0 && value.abs() < 1e15 {
            format!("{value:.0}")
        } else {
            three_digits(*value)
        };
        format!("{} {value}", name.replace('_', " "))
    });
    let text = figures.collect::<Vec<_>>().join(", ");
    let text = if text.is_empty() { text } else { format!("{}: {text}", cause.code) };
    classed("div", "evidence").text(text)
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
