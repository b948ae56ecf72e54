//! Where each combination's time went: syncs, locks, waiting, the kernel, the program, each as
//! long as it takes, so that a change shows what it takes away.

use model::analysis::{ArmResult, TimeKind, TimePart};
use units::{percent as share_of, time};

use super::chart::{Chart, Drawing, Figures, Reading, Rows, band, ticks};
use super::latency::short_time;
use super::legend;
use super::markup::Markup;
use super::panels::{Panel, panels};
use super::scale::Scale;
use super::table::Table;
use crate::names;
use crate::subject::Subject;

const HEIGHT: f64 = 14.0;

static READING: Reading = Reading {
    id: "reading-time",
    title: "Where the time goes",
    text: "A bar is as long as the mean time per operation. Its parts come from the counters of \
           the combination and of the kernel. Each nanosecond is counted once.",
};

/// The chart of a study; nothing where it is not known of any of its arms.
pub(super) fn chart(subject: Subject, study: &str) -> Option<Chart> {
    let mut panels = panels(subject, study);
    for panel in &mut panels {
        panel.arms.retain(|(_, arm)| whole(&arm.time) > 0.0);
    }
    panels.retain(|panel| !panel.arms.is_empty());
    let arms = || panels.iter().flat_map(|panel| &panel.arms).map(|(_, arm)| *arm);
    let present = |kind: &TimeKind| arms().flat_map(|arm| &arm.time).any(|p| p.kind == *kind);
    let kinds: Vec<TimeKind> = TimeKind::ALL.into_iter().filter(present).collect();
    if kinds.is_empty() {
        return None;
    }
    let mut table = Table::new(3, ["combination", "kind", "what", "per operation", "share"]);
    for arm in arms() {
        let name = names::of_arm(arm);
        for TimePart { kind, what, ns_per_op } in &arm.time {
            let share = share_of(ns_per_op / whole(&arm.time));
            table.add_row([&name, kind.as_str(), what, &time(*ns_per_op), &share]);
        }
    }
    let entries = kinds.iter().map(|kind| (class(*kind), kind.as_str()));
    let legend =
        Drawing { height: legend::height(kinds.len()), parts: legend::legend(entries, 0.0) };
    let drawing = panels.iter().filter_map(drawn).fold(legend, Drawing::above);
    Some(Chart::new(study, READING.title, drawing, table).read_by(&READING))
}

/// The bars of combinations that do the same work, along an axis from zero.
fn drawn(panel: &Panel) -> Option<Drawing> {
    let scale = Scale::from_zero(panel.arms.iter().map(|(_, arm)| whole(&arm.time)))?;
    let mut rows = Rows::new(ticks(&scale, &scale.ticks(), short_time));
    if !panel.heading.is_empty() {
        rows.heading(&panel.heading);
    }
    for (_, arm) in &panel.arms {
        rows.row(&names::of_arm(arm), &figures(arm), HEIGHT, |y| draw(&arm.time, &scale, y));
    }
    Some(rows.finish())
}

fn whole(parts: &[TimePart]) -> f64 {
    parts.iter().map(|part| part.ns_per_op).sum()
}

fn class(kind: TimeKind) -> &'static str {
    match kind {
        TimeKind::Sync => "t-sync",
        TimeKind::Lock => "t-lock",
        TimeKind::Wait => "t-wait",
        TimeKind::Kernel => "t-kernel",
        TimeKind::Program => "t-program",
        TimeKind::Processor => "t-processor",
        TimeKind::Queue => "t-queue",
        TimeKind::Study => "t-study",
    }
}

/// The whole time, and the kind that takes most of it.
fn figures(arm: &ArmResult) -> Figures {
    let mut figures = vec![("strong", time(whole(&arm.time)))];
    let kinds = TimeKind::ALL.into_iter().map(|kind| (kind, of_kind(&arm.time, kind)));
    if let Some((kind, ns)) = kinds.max_by(|a, b| a.1.total_cmp(&b.1)) {
        let share = share_of(ns / whole(&arm.time));
        figures.push(("dim wide", format!("{} {share}", kind.as_str())));
    }
    figures
}

fn of_kind(parts: &[TimePart], kind: TimeKind) -> f64 {
    parts.iter().filter(|part| part.kind == kind).map(|part| part.ns_per_op).sum()
}

/// The kinds one after the other, each with its parts together.
fn draw(parts: &[TimePart], scale: &Scale, y: f64) -> Markup {
    let mut from_ns = 0.0;
    let bands = TimeKind::ALL.into_iter().filter_map(|kind| {
        let ns = of_kind(parts, kind);
        let from = scale.at(from_ns);
        from_ns += ns;
        (ns > 0.0).then(|| band(from, scale.at(from_ns), y, HEIGHT, class(kind)))
    });
    bands.collect()
}
