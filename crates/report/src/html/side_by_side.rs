//! Several runs, side by side: how long each combination takes in each of them, and what each
//! of them says of the same comparison. What is the same is decided as `diff` decides it.
//!
//! Runs are not interleaved as arms are, so nothing is said here of how they differ.

use model::analysis::{Analysis, Comparison};
use model::arm::Pair;
use model::diff::Missing;
use model::grouped::each_once;
use model::matching::Matching;
use model::run::Run;
use units::count;

use super::Sheet;
use super::chart::{self, Chart, Ids, ticks};
use super::forest;
use super::markup::{Element, Markup, classed, el};
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
pub(super) fn overview(sheets: &[Sheet], matching: &Matching, ids: &mut Ids) -> Markup {
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
        let text = "Unlike the combinations of one run, runs are not interleaved: the machine or \
                    its state may have changed between them. ";
        let differs = " shows what differs by more than the usual variation between runs.";
        let diff = el("code").text("iotoll diff");
        section = section.child(el("p").text(text).child(diff).text(differs));
        let repeated = runs
            .iter()
            .filter_map(|(number, _, analysis)| Some((*number, analysis.reproduction.as_ref()?)));
        section = section.child(reproduction::beside(&repeated.collect::<Vec<_>>()));
        let rows = Rows::of(&runs, matching);
        let times = typical_times(&runs, &rows).scrolling("Time per operation");
        section = section.child(el("h2").text("Time per operation")).child(times);
        section = section.children(kept_apart(&runs, matching));
        section = section.children(comparisons(&runs, &rows).map(|chart| chart.figure(ids)));
    }
    section.into()
}

fn list(sheets: &[Sheet]) -> Markup {
    let item = |(index, sheet): (usize, &Sheet)| {
        let link = el("a").attr("href", format!("#run-{}", index + 1));
        match sheet {
            Sheet::Comparison { run, analysis } => {
                let facts = format!(
                    ": began {}, {} rounds, Linux {}, {}",
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

/// The combinations of all runs, each once, in the order in which they come.
struct Rows {
    /// Their names in the first run that has each.
    names: Vec<String>,
    /// For each run, which of these each of its arms is.
    of_run: Vec<Vec<usize>>,
}

impl Rows {
    fn of(runs: &[Numbered], matching: &Matching) -> Self {
        let mut rows = Self { names: Vec::new(), of_run: Vec::new() };
        for (at, (_, run, _)) in runs.iter().enumerate() {
            let mut own: Vec<Option<usize>> = vec![None; run.plan.arms.len()];
            for (earlier, (_, before, _)) in runs[..at].iter().enumerate() {
                for (old, new) in matching.arms(before, run) {
                    own[new] = own[new].or(Some(rows.of_run[earlier][old]));
                }
            }
            let own = own.into_iter().zip(&run.plan.arms).map(|(row, arm)| {
                row.unwrap_or_else(|| {
                    rows.names.push(arm.id.clone());
                    rows.names.len() - 1
                })
            });
            let own = own.collect();
            rows.of_run.push(own);
        }
        rows
    }

    /// The arm of a run that is that row.
    fn arm(&self, run: usize, row: usize) -> Option<usize> {
        self.of_run[run].iter().position(|own| *own == row)
    }

    /// Which rows a comparison of a run is of.
    fn compared(&self, run: usize, pair: &Pair) -> (usize, usize) {
        (self.of_run[run][pair.base], self.of_run[run][pair.other])
    }
}

fn typical_times(runs: &[Numbered], rows: &Rows) -> Table {
    let heads = runs.iter().map(|(number, ..)| format!("run {number}"));
    let mut table = Table::new(1, std::iter::once(String::new()).chain(heads));
    for (row, name) in rows.names.iter().enumerate() {
        let typical = |(at, (_, run, analysis)): (usize, &Numbered)| {
            let arm = rows.arm(at, row).and_then(|arm| analysis.arms.get(arm));
            arm.map_or_else(String::new, |arm| words::typical(Subject { run, analysis }, arm))
        };
        table.add_row(std::iter::once(name.clone()).chain(runs.iter().enumerate().map(typical)));
    }
    table
}

/// What keeps combinations apart that only one of two runs has.
fn kept_apart(runs: &[Numbered], matching: &Matching) -> Option<Element> {
    let [(_, before, _), (_, after, _)] = runs else { return None };
    let missing = matching.unmatched(before, after);
    if missing.is_empty() {
        return None;
    }
    let item = |missing: &Missing| el("li").text(format!("{}: {}", missing.id, missing.why));
    let list = el("ul").children(missing.iter().map(item));
    Some(el("div").child(el("p").text("Only one of the two runs has these:")).child(list))
}

/// What two or more of the runs compare.
fn comparisons(runs: &[Numbered], rows: &Rows) -> Option<Chart> {
    let pairs = runs.iter().enumerate().flat_map(|(at, (_, run, _))| {
        run.plan.pairs.iter().map(move |pair| rows.compared(at, pair))
    });
    drawn(runs, rows, &each_once(pairs))
}

fn drawn(runs: &[Numbered], rows: &Rows, pairs: &[(usize, usize)]) -> Option<Chart> {
    let of_pair = |wanted: (usize, usize)| -> Vec<(usize, Comparison)> {
        let found = runs.iter().enumerate().filter_map(|(at, (number, run, analysis))| {
            let mut all = analysis.comparisons.iter().zip(&run.plan.pairs);
            let is_wanted = |(comparison, pair): &(&Comparison, &Pair)| {
                rows.compared(at, pair) == wanted && comparison.ratio.is_some()
            };
            all.find(is_wanted).map(|(comparison, _)| (*number, comparison.clone()))
        });
        found.collect()
    };
    let shared: Vec<Vec<(usize, Comparison)>> =
        pairs.iter().map(|pair| of_pair(*pair)).filter(|found| found.len() > 1).collect();
    let ends = shared.iter().flatten().flat_map(|(_, c)| [c.ratio, c.ratio_low, c.ratio_high]);
    let threshold = 1.0 + shared.first()?.first()?.1.threshold;
    let scale = Scale::log(ends.flatten().chain([threshold, 1.0 / threshold]))?;
    let marks = ticks(&scale, &ratio_ticks(&scale), forest::speed_mark);
    let mut rows =
        chart::Rows::new(marks).with_behind(scale.at(1.0 / threshold), scale.at(threshold));
    let mut table =
        Table::new(4, ["combination", "compared with", "run", "verdict", "ratio", "interval"]);
    for found in &shared {
        let (_, first) = found.first()?;
        rows.heading(&format!("{}, compared with {}", first.other, first.base));
        for (number, comparison) in found {
            let Difference { ratio, interval } = Difference::of(comparison);
            let verdict = comparison.verdict.as_str().to_owned();
            let figures = forest::figures(comparison);
            let name = format!("run {number}");
            rows.row(&name, &figures, forest::HEIGHT, |y| forest::draw(comparison, &scale, y));
            let (other, base) = (comparison.other.clone(), comparison.base.clone());
            table.add_row([other, base, name, verdict, ratio, interval]);
        }
    }
    let about = "Time per operation divided by that of the combination it is compared with, with \
                 its confidence interval, from each run alone.";
    let chart = Chart::new("runs", "The same comparisons in each run", rows.finish(), table);
    Some(chart.about(about.to_owned()))
}
