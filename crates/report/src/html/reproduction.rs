//! A published measurement beside the same here: a chart of each group of figures, and what
//! holds of the conclusions. Of several runs of one article, the figures side by side.

use model::figure::Unit;
use model::grouped::in_groups;
use model::reproduction::{ConclusionHere, Decision, FigureHere, Measured, Reproduction};

use super::chart::{Chart, Ids, Rows, circle, ticks, upright};
use super::forest;
use super::markup::{Element, Markup, classed, el};
use super::scale::{Scale, ratio_ticks};
use super::table::Table;
use crate::reproduction::words;
use crate::subject::Subject;

const HEIGHT: f64 = 16.0;
/// How large a ring is, and a dot.
const RING: f64 = 6.5;
const DOT: f64 = 4.5;

/// All that is said of the article that a run repeats; nothing where it repeats none.
pub(super) fn section(subject: Subject, ids: &mut Ids) -> Markup {
    let Some(reproduction) = &subject.analysis.reproduction else { return Markup::default() };
    let Reproduction { article, title, year, original, question, .. } = reproduction;
    let about = format!("{title}, {year}, measured with {original}. {question}");
    let how = if reproduction.is_quick { " in a tenth of the time" } else { "" };
    let sentences = words::manner(reproduction);
    let missing = sentences.map(|text| classed("p", "warning").text(text));
    let charts: Vec<Markup> = words::groups(reproduction)
        .map(|group| {
            if group.iter().any(|figure| values(figure).iter().any(Option::is_some)) {
                return chart(reproduction, group).figure(ids);
            }
            let mut told = Markup::from(el("h3").text(&group[0].group));
            told.push(table(reproduction, group).scrolling(&group[0].group));
            told.push(
                words::notes(group).into_iter().map(|note| el("p").text(note)).collect::<Markup>(),
            );
            told
        })
        .collect();
    el("section")
        .child(el("h2").text(article))
        .child(el("p").text(about))
        .child(el("p").text(format!("Repeated here{how}.")))
        .children(missing)
        .child(conclusions(reproduction))
        .children(charts)
        .into()
}

fn conclusions(reproduction: &Reproduction) -> Element {
    let entry = |conclusion: &ConclusionHere| {
        let reasons = words::reasons(conclusion).into_iter();
        let reasons = reasons.map(|text| classed("div", "evidence").text(text));
        let decision = conclusion.decision;
        let held = el("dt").attr("class", class(decision)).text(decision.as_str());
        [held, el("dd").text(&conclusion.says).children(reasons)]
    };
    classed("dl", "advice").children(reproduction.conclusions.iter().flat_map(entry))
}

fn class(decision: Decision) -> &'static str {
    match decision {
        Decision::Holds => "faster",
        Decision::DoesNotHold => "slower",
        Decision::Unclear | Decision::NotComparable => "unclear",
    }
}

/// What was published, and what was measured in the article's way and natively.
fn values(figure: &FigureHere) -> [Option<f64>; 3] {
    let of = |measured: &Option<Measured>| measured.as_ref().and_then(|m| m.value);
    [figure.published, of(&figure.original), of(&figure.native)]
}

/// The figures of a group along one axis.
fn chart(reproduction: &Reproduction, group: &[FigureHere]) -> Chart {
    let has_any = |figure: &&FigureHere| values(figure).iter().any(Option::is_some);
    let unit = group.iter().find(has_any).unwrap_or(&group[0]).unit;
    // What is of another kind than the first that is known, as a difference among ratios, has
    // no place.
    let drawn: Vec<(&FigureHere, [Option<f64>; 3])> = group
        .iter()
        .filter(|figure| figure.unit == unit)
        .map(|figure| (figure, values(figure)))
        .collect();
    let known = || drawn.iter().flat_map(|(_, values)| values).flatten().copied();
    let scale = if known().any(|value| value <= 0.0) {
        Scale::from_zero(known().chain([1.0]))
    } else {
        Scale::log(known())
    };
    let scale = scale.or_else(|| Scale::log([1.0]));
    let rows = scale.map_or_else(
        || Rows::new(Vec::new()),
        |scale| {
            let marks = if unit == Unit::Ratio { ratio_ticks(&scale) } else { scale.ticks() };
            let label = |value: f64| match unit {
                Unit::Ratio => forest::mark(value),
                unit => words::figure_text(unit, value),
            };
            let mut rows = Rows::new(ticks(&scale, &marks, label));
            for (figure, values) in &drawn {
                let told = figures(figure);
                rows.row(&figure.what, &told, HEIGHT, |y| draw(*values, &scale, y));
            }
            rows
        },
    );
    let table = table(reproduction, group);
    let chart = Chart::new(&reproduction.article, &group[0].group, rows.finish(), table);
    chart.about(about(reproduction, group))
}

/// What is drawn of the figures.
fn about(reproduction: &Reproduction, group: &[FigureHere]) -> String {
    let as_it_was = group.iter().any(|figure| figure.original.is_some());
    let natively = group.iter().any(|figure| figure.native.is_some());
    let mut told = "The ring (○) is what was published".to_owned();
    if as_it_was {
        told += &format!(", the dot (●) what was measured with {} here", reproduction.original);
    }
    if natively {
        told += ", the upright line (│) what was measured natively";
    }
    let notes: String = words::notes(group).into_iter().map(|note| format!(" {note}")).collect();
    format!("{told}.{notes}")
}

/// What stands at the right of a row, each with the sign that it is drawn as.
fn figures(figure: &FigureHere) -> Vec<(&'static str, String)> {
    let drawn = [("dim", '○'), ("strong", '●'), ("strong", '│')];
    let told = drawn.into_iter().zip(values(figure)).filter_map(|((class, sign), value)| {
        Some((class, format!("{sign} {}", words::figure_text(figure.unit, value?))))
    });
    told.collect()
}

fn draw([published, original, native]: [Option<f64>; 3], scale: &Scale, y: f64) -> Markup {
    let middle = y + HEIGHT / 2.0;
    let line = native.map(|value| upright(scale.at(value), y, y + HEIGHT, "median"));
    let ring = published.map(|value| circle(scale.at(value), middle, RING, "ring"));
    let dot = original.map(|value| circle(scale.at(value), middle, DOT, "centre"));
    let dot = dot.map(|dot| classed("g", "faster").child(dot));
    [line, ring, dot].into_iter().flatten().collect()
}

fn table(reproduction: &Reproduction, group: &[FigureHere]) -> Table {
    let columns = words::columns(reproduction, group);
    let heads = columns.iter().flat_map(|column| [column.name.clone(), "ratio".to_owned()]);
    let mut table = Table::new(1, std::iter::once("figure".to_owned()).chain(heads));
    for (row, figure) in group.iter().enumerate() {
        let cells = columns.iter().filter_map(|column| column.cells.get(row));
        let figures = cells.flat_map(|cells| [cells.value.clone(), cells.ratio.clone()]);
        table.add_row(std::iter::once(figure.what.clone()).chain(figures));
    }
    table
}

/// A run's reproduction with its number on the page.
type Numbered<'a> = (usize, &'a Reproduction);

/// What several runs of the same article found, side by side.
pub(super) fn beside(runs: &[Numbered]) -> Markup {
    let mut out = Markup::default();
    for (article, own) in in_groups(runs.iter().map(|run| (&run.1.article, *run))) {
        let [(_, first), _, ..] = own.as_slice() else { continue };
        out.push(el("h2").text(article));
        out.push(decisions(&own).scrolling("Conclusions"));
        for group in words::groups(first) {
            out.push(el("h3").text(&group[0].group));
            out.push(figures_beside(&own, group).scrolling(&group[0].group));
        }
    }
    out
}

fn decisions(runs: &[Numbered]) -> Table {
    let heads = runs.iter().map(|(number, _)| format!("run {number}"));
    let mut table = Table::new(1, std::iter::once("conclusion".to_owned()).chain(heads));
    let Some((_, first)) = runs.first() else { return table };
    for conclusion in &first.conclusions {
        let decided = runs.iter().map(|(_, run)| {
            let own = run.conclusions.iter().find(|own| own.says == conclusion.says);
            own.map_or_else(String::new, |own| own.decision.as_str().to_owned())
        });
        table.add_row(std::iter::once(conclusion.says.clone()).chain(decided));
    }
    table
}

fn figures_beside(runs: &[Numbered], group: &[FigureHere]) -> Table {
    let beside = runs.iter().map(|(number, run)| (format!("run {number}"), *run));
    let columns = words::columns_beside(beside, group);
    let names = columns.iter().map(|column| column.name.clone());
    let mut table = Table::new(1, std::iter::once("figure".to_owned()).chain(names));
    for (row, figure) in group.iter().enumerate() {
        let cells = columns.iter().map(|column| &column.cells[row]);
        let cells = cells.map(|cells| format!("{} {}", cells.value, cells.ratio));
        table.add_row(std::iter::once(figure.what.clone()).chain(cells));
    }
    table
}
