//! How the changes of a study are made: what to type, how to check that it took, how to undo it.

use super::markup::{Element, Markup, classed, el};
use crate::how::{self, Change, Step};
use crate::subject::Subject;

/// The changes that are advised for a study; nothing where there are none.
pub(super) fn of_study(subject: Subject, study: &str) -> Markup {
    let changes = how::changes(subject);
    let mut own = changes.iter().filter(|change| change.study == study).peekable();
    if own.peek().is_none() {
        return Markup::default();
    }
    let heading = el("h3").text("How to make each change");
    std::iter::once(heading).chain(own.map(recipe)).collect()
}

fn recipe(change: &Change) -> Element {
    let condition = change.condition.iter().map(|text| line("only if", text));
    let steps = change.steps.iter().flat_map(Step::lines).map(|(word, text)| line(word, text));
    let own = "in your own program, which the study stands for";
    let own = change.steps.is_empty().then(|| line("change", own));
    let lines: Vec<Markup> = condition.chain(steps).chain(own).collect();
    classed("div", "recipe")
        .child(
            el("p")
                .child(el("b").text(&change.name))
                .text(" ")
                .child(classed("span", "dim").text(&change.saves)),
        )
        .child(el("dl").children(lines))
}

fn line(word: &str, text: &str) -> Markup {
    [el("dt").text(word), el("dd").prose(text)].into_iter().collect()
}
