//! What each combination takes on each place, as a grid whose cells are coloured by how much they
//! differ from now.

use model::analysis::ArmResult;
use model::grouped::{each_once, in_groups};

use super::chart::{Drawing, centred, percent};
use super::forest::class;
use super::markup::{Element, Markup, classed, el};
use crate::difference::Difference;
use crate::names;
use crate::subject::Subject;
use crate::words;

/// The share of the width that names take.
const NAMES: f64 = 0.34;
const HEAD: f64 = 24.0;
const ROW: f64 = 40.0;
/// Where letters stand in the two lines of a cell.
const BASELINES: [f64; 2] = [17.0, 32.0];
/// Between two cells.
const GAP: f64 = 3.0;

/// The grid of a study; nothing where nothing was timed.
pub(super) fn drawing(subject: Subject, study: &str) -> Option<Drawing> {
    let arms = || subject.arms_of(study).map(|(_, arm)| arm).filter(|a| a.typical_ns.is_some());
    let places = each_once(arms().map(|arm| arm.place.as_str()));
    let ways = in_groups(arms().map(|arm| (names::of_way(arm), arm)));
    if ways.is_empty() {
        return None;
    }
    let width = (1.0 - NAMES) / places.len() as f64;
    let at = |place: usize| NAMES + place as f64 * width;
    let heads = places
        .iter()
        .enumerate()
        .map(|(position, place)| centred(at(position) + width / 2.0, HEAD - 8.0, "dim", place));
    let mut parts: Markup = heads.collect();
    for (row, (name, arms)) in ways.iter().enumerate() {
        let y = HEAD + row as f64 * ROW;
        parts.push(el("text").attr("y", y + BASELINES[0]).text(name));
        for arm in arms {
            let place = places.iter().position(|place| *place == arm.place)?;
            parts.push(cell(subject, arm, at(place), width, y));
        }
    }
    Some(Drawing { height: HEAD + ways.len() as f64 * ROW, parts })
}

fn cell(subject: Subject, arm: &ArmResult, from: f64, width: f64, y: f64) -> Element {
    let comparison = subject.analysis.against_now(&arm.id);
    let class = comparison.map_or("equal", |comparison| class(comparison.verdict));
    let Difference { ratio, interval } =
        comparison.map_or_else(|| Difference::new(None, None, None), Difference::of);
    let is_now = subject.analysis.is_now(&arm.id);
    let second = if is_now { "now".to_owned() } else { format!("{ratio} ({interval})") };
    let second = if is_now || comparison.is_some() { second } else { String::new() };
    let middle = from + width / 2.0;
    let cell = classed("rect", "cell").attr("x", percent(from)).attr("y", y);
    let cell = cell.attr("width", percent(width - 0.004)).attr("height", ROW - GAP);
    let [first_line, second_line] = BASELINES.map(|baseline| y + baseline);
    classed("g", class)
        .child(cell)
        .child(centred(middle, first_line, "strong", &words::typical(subject, arm)))
        .child(centred(middle, second_line, "dim", &second))
}
