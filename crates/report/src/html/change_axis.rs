//! The axis of the first picture: how many times faster each change is than now, on a log
//! scale that all rows share.

use model::advice::{Advice, Group};
use units::count;

use super::chart::{Tick, circle, level, upright};
use super::markup::{Element, Markup, classed};
use super::scale::Scale;
use crate::answer::{Entry, MARKS, Section};

/// The axis reaches at least from twice as fast to a third slower.
const LEAST: [f64; 2] = [0.5, 1.33];
/// How large the mark of an estimate is.
const RADIUS: f64 = 5.0;
/// Where the middle of a row is.
const MIDDLE: &str = "50%";

pub(super) struct ChangeAxis(Scale);

impl ChangeAxis {
    /// One that has room for all that is sure; nothing where no change was compared.
    pub(super) fn of(sections: &[Section]) -> Option<Self> {
        let entries = || sections.iter().flat_map(|section| section.entries);
        let sure = entries().filter(|entry| entry.has_bar() && entry.is_sure());
        let ends = sure
            .flat_map(|Entry { advice, .. }| [advice.ratio, advice.ratio_low, advice.ratio_high]);
        if !entries().any(Entry::has_bar) {
            return None;
        }
        // What is not decided may lie anywhere, and is drawn up to the ends.
        let open = entries().filter(|entry| entry.has_bar()).filter_map(|entry| entry.advice.ratio);
        Scale::log(ends.flatten().chain(open).chain(LEAST)).map(Self)
    }

    /// `20×`, `5×`, `now`, `2× slower`.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let tick = |ratio: f64, label: String| Tick {
            at: self.0.at(ratio),
            label,
            is_kept: (ratio - 1.0).abs() < 1e-9,
        };
        let factor = |factor: f64| count(factor as u64);
        let faster = MARKS.into_iter().filter(|mark| self.0.holds(1.0 / *mark));
        let faster = faster.map(|mark| tick(1.0 / mark, format!("{}×", factor(mark))));
        let slower = MARKS.into_iter().rev().filter(|mark| self.0.holds(*mark));
        let slower = slower.map(|mark| tick(mark, format!("{}× slower", factor(mark))));
        faster.chain([tick(1.0, "now".to_owned())]).chain(slower).collect()
    }

    /// A row of it: the marks behind, and what a change comes to. As high as what it is in.
    pub(super) fn row(&self, group: Group, entry: Option<&Entry>) -> Markup {
        let mut all: Markup = self
            .ticks()
            .iter()
            .map(|tick| upright(tick.at, 0, "100%", if tick.is_kept { "now" } else { "grid" }))
            .collect();
        all.push(entry.and_then(|entry| self.bar(group, entry)).into_iter().collect::<Markup>());
        all
    }

    /// From now to the estimate, with its interval and the mark of its group.
    fn bar(&self, group: Group, entry: &Entry) -> Option<Element> {
        let Advice { ratio, ratio_low, ratio_high, .. } = *entry.advice;
        let ratio = ratio.filter(|_| entry.has_bar())?;
        let at = |ratio: f64| self.0.at(ratio);
        let [low, high] = [ratio_low.map_or(0.0, at), ratio_high.map_or(1.0, at)];
        let reach = entry.is_sure().then(|| level(at(1.0), at(ratio), MIDDLE, "reach"));
        let bar = classed("g", class(group, ratio))
            .children(reach)
            .child(level(low, high, MIDDLE, "halo"))
            .child(level(low, high, MIDDLE, "interval"))
            .child(circle(at(ratio), MIDDLE, RADIUS, "centre"));
        Some(bar)
    }
}

/// The class of what is drawn of a change.
fn class(group: Group, ratio: f64) -> &'static str {
    match group {
        Group::Do => "faster",
        Group::OnlyIf => "if",
        Group::Undecided => "unclear",
        Group::Leave if ratio > 1.0 => "slower",
        Group::Leave => "equal",
    }
}

/// The mark of a group, for its heading.
pub(super) fn key(group: Group) -> Element {
    let class = match group {
        Group::Do => "faster",
        Group::OnlyIf => "if",
        Group::Undecided => "unclear",
        Group::Leave => "equal",
    };
    let circle = classed("circle", "centre").attr("cx", 6).attr("cy", 6).attr("r", RADIUS);
    classed("g", class).child(circle)
}
