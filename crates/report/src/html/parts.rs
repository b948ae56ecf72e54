//! The parts of an operation's time that a study accounts for itself, stacked, arm beside
//! arm.

use model::description::StudyDescription;
use units::{percent as share_of, time};

use super::chart::{Chart, Figures, Reading, Rows, band, centred, ticks};
use super::latency::short_time;
use super::legend;
use super::markup::Markup;
use super::scale::Scale;
use super::table::Table;
use crate::names;
use crate::parts::{Kind, OfArm, Parts};
use crate::subject::Subject;

const HEIGHT: f64 = 16.0;
/// A part that is narrower, as a share of the chart, has no room for its letter on a
/// telephone.
const LETTER_FROM: f64 = 0.035;
/// How far below a bar's upper end its letters stand.
const LETTER_BASELINE: f64 = 12.0;
const CLASSES: [&str; 8] = ["p-0", "p-1", "p-2", "p-3", "p-4", "p-5", "p-6", "p-7"];

static READING: Reading = Reading {
    id: "reading-parts",
    title: "Part by part",
    text: "A bar has the parts that the study itself accounts for, in the order in which their \
           time is spent. These are means over all slices.",
};

/// The chart of a study; nothing where it does not account for its time.
pub(super) fn chart(subject: Subject, study: &StudyDescription) -> Option<Chart> {
    let arms: Vec<_> = subject.arms_of(&study.name).map(|(_, arm)| arm).collect();
    let Parts { kinds, arms } = Parts::of(study, &arms)?;
    let scale = Scale::from_zero(arms.iter().map(|arm| arm.whole_ns))?;
    let mut drawn = Rows::new(ticks(&scale, &scale.ticks(), short_time));
    let entries = kinds
        .iter()
        .enumerate()
        .map(|(part, Kind { letter, title })| (class(part), format!("{letter}\u{2002}{title}")));
    drawn.above(legend::height(kinds.len()), |y| legend::legend(entries, y));
    let heads = ["combination"].into_iter().chain(kinds.iter().map(|kind| kind.title.as_str()));
    let mut table = Table::new(1, heads.chain(["all"]));
    for arm in &arms {
        let name = names::of_arm(arm.arm);
        let figure = |ns: &Option<f64>| ns.map_or_else(String::new, time);
        let cells = arm.ns.iter().map(figure).chain([time(arm.whole_ns)]);
        table.add_row([name.clone()].into_iter().chain(cells));
        drawn.row(&name, &figures(&kinds, arm), HEIGHT, |y| draw(&kinds, arm, &scale, y));
    }
    let title = format!("Time per {}, part by part", study.operation);
    Some(Chart::new(&study.name, &title, drawn.finish(), table).read_by(&READING))
}

fn class(part: usize) -> &'static str {
    CLASSES[part % CLASSES.len()]
}

fn figures(kinds: &[Kind], arm: &OfArm) -> Figures {
    let mut figures = vec![("strong", time(arm.whole_ns))];
    if let Some((part, ns)) = arm.largest() {
        let share = share_of(ns / arm.whole_ns);
        figures.push(("dim wide", format!("{} {share}", kinds[part].title)));
    }
    figures
}

fn draw(kinds: &[Kind], arm: &OfArm, scale: &Scale, y: f64) -> Markup {
    let mut all = Markup::default();
    let mut sum_ns = 0.0;
    for (part, ns) in arm.ns.iter().enumerate() {
        let Some(ns) = ns.filter(|ns| *ns > 0.0) else { continue };
        let from = scale.at(sum_ns);
        sum_ns += ns;
        let to = scale.at(sum_ns);
        all.push(band(from, to, y, HEIGHT, class(part)));
        if to - from >= LETTER_FROM {
            let letter = kinds[part].letter.to_string();
            all.push(centred(f64::midpoint(from, to), y + LETTER_BASELINE, "letter", &letter));
        }
    }
    all
}
