//! Several runs, side by side: each arm's toll in each of them, and what each of them says
//! of the same comparison.
//!
//! Runs are not interleaved as arms are, so nothing is said here of how they differ.

use model::analysis::{Analysis, Comparison};
use model::run::Run;
use units::count;

use super::Sheet;
use super::chart::{Chart, Ids, Rows, ticks};
use super::forest;
use super::markup::{Markup, classed, el};
use super::opening::{day, subject_line};
use super::reproduction;
use super::scale::{Scale, ratio_ticks};
use super::table::Table;
use crate::difference::Difference;
use crate::subject::Subject;
use crate::words;

/// A comparison's run with its number on the page.
type Numbered<'a> = (usize, &'a Run, &'a Analysis);

/// What several runs have in common; nothing where there is one.
pub(super) fn overview(sheets: &[Sheet], ids: &mut Ids) -> Markup {
    if sheets.len() < 2 {
        return Markup::default();
    }
    let runs: Vec<Numbered> = sheets
        .iter()
        .enumerate()
        .filter_map(|(index, sheet)| match sheet {
            Sheet::Comparison { run, analysis } => Some((index + 1, *run, *analysis)),
            Sheet::Load { .. } => None,
        })
        .collect();
    let title = format!("{} runs side by side", sheets.len());
    let mut section = classed("section", "run")
        .attr("id", super::SIDE_BY_SIDE)
        .child(el("h1").text(title))
        .child(list(sheets));
    if runs.len() > 1 {
        let text = "Unlike the arms within a run, runs are not interleaved: the machine or its \
                    state may have changed between them. `iotoll diff` shows what differs by more \
                    than the usual variation between runs.";
        section = section.child(el("p").text(text));
        let repeated = runs
            .iter()
            .filter_map(|(number, _, analysis)| Some((*number, analysis.reproduction.as_ref()?)));
        section = section.child(reproduction::beside(&repeated.collect::<Vec<_>>()));
        section =
            section.child(el("h2").text("Tolls")).child(typical_times(&runs).scrolling("Tolls"));
        section = section.children(comparisons(&runs).map(|chart| chart.figure(ids)));
    }
    section.into()
}

fn list(sheets: &[Sheet]) -> Markup {
    let item = |(index, sheet): (usize, &Sheet)| {
        let link = el("a").attr("href", format!("#run-{}", index + 1));
        match sheet {
            Sheet::Comparison { run, analysis } => {
                let facts = format!(
                    ": began {}, {} blocks, Linux {}, {}",
                    day(&run.run.started),
                    count(analysis.blocks),
                    run.machine.kernel,
                    run.machine.cpu
                );
                el("li").child(link.text(subject_line(run))).text(facts)
            }
            Sheet::Load { run, .. } => el("li")
                .child(link.text(&run.plan.url))
                .text(format!(": began {}", day(&run.run.started))),
        }
    };
    el("ol").children(sheets.iter().enumerate().map(item)).into()
}

/// The arms of all runs, each once, in the order in which they come.
fn ids_of<'a>(runs: &[Numbered<'a>]) -> Vec<&'a str> {
    let mut ids: Vec<&str> = Vec::new();
    for (_, _, analysis) in runs {
        for arm in &analysis.arms {
            if !ids.contains(&arm.id.as_str()) {
                ids.push(&arm.id);
            }
        }
    }
    ids
}

fn typical_times(runs: &[Numbered]) -> Table {
    let heads = runs.iter().map(|(number, ..)| format!("run {number}"));
    let mut table = Table::new(1, std::iter::once("arm".to_owned()).chain(heads));
    for id in ids_of(runs) {
        let typical = |(_, run, analysis): &Numbered| {
            let arm = analysis.arm(id);
            arm.map_or_else(String::new, |arm| words::typical(Subject { run, analysis }, arm))
        };
        table.add_row(std::iter::once(id.to_owned()).chain(runs.iter().map(typical)));
    }
    table
}

/// What two or more of the runs compare.
fn comparisons(runs: &[Numbered]) -> Option<Chart> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for comparison in runs.iter().flat_map(|(_, _, analysis)| &analysis.comparisons) {
        let pair = (comparison.base.as_str(), comparison.other.as_str());
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    drawn(runs, &pairs)
}

fn drawn(runs: &[Numbered], pairs: &[(&str, &str)]) -> Option<Chart> {
    let of_pair = |base: &str, other: &str| -> Vec<(usize, Comparison)> {
        let found = runs.iter().filter_map(|(number, _, analysis)| {
            let mut all = analysis.comparisons.iter();
            let found = all.find(|c| c.base == base && c.other == other && c.ratio.is_some());
            found.map(|comparison| (*number, comparison.clone()))
        });
        found.collect()
    };
    let shared: Vec<Vec<(usize, Comparison)>> = pairs
        .iter()
        .map(|(base, other)| of_pair(base, other))
        .filter(|found| found.len() > 1)
        .collect();
    let ends = shared.iter().flatten().flat_map(|(_, c)| [c.ratio, c.ratio_low, c.ratio_high]);
    let threshold = 1.0 + shared.first()?.first()?.1.threshold;
    let scale = Scale::log(ends.flatten().chain([threshold, 1.0 / threshold]))?;
    let marks = ticks(&scale, &ratio_ticks(&scale), forest::speed_mark);
    let mut rows = Rows::new(marks).with_behind(scale.at(1.0 / threshold), scale.at(threshold));
    let mut table = Table::new(4, ["arm", "against", "run", "verdict", "ratio", "interval"]);
    for found in &shared {
        let (_, first) = found.first()?;
        rows.heading(&format!("{}, against {}", first.other, first.base));
        for (number, comparison) in found {
            let Difference { ratio, interval } = Difference::of(comparison);
            let verdict = comparison.verdict.as_str().to_owned();
            let figures = [
                ("strong", ratio.clone()),
                ("dim wide", interval.clone()),
                (forest::class(comparison.verdict), verdict.clone()),
            ];
            let name = format!("run {number}");
            rows.row(&name, &figures, forest::HEIGHT, |y| forest::draw(comparison, &scale, y));
            let (other, base) = (comparison.other.clone(), comparison.base.clone());
            table.add_row([other, base, name, verdict, ratio, interval]);
        }
    }
    Some(Chart {
        subject: "runs".to_owned(),
        reading: None,
        title: "The same comparisons in each run".to_owned(),
        about: "Time per operation divided by that of the arm it is compared with, with its \
                confidence interval, from each run alone."
            .to_owned(),
        drawing: rows.finish(),
        table,
    })
}
