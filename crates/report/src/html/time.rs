//! Where each arm's time went: syncs, locks, waiting, the kernel, the program.

use model::analysis::{ArmResult, TimeKind, TimePart};
use units::{percent as share_of, time};

use super::chart::{Chart, Figures, Rows, Tick, band};
use super::legend;
use super::markup::Markup;
use super::table::Table;
use crate::names;
use crate::subject::Subject;
use crate::words;

const HEIGHT: f64 = 14.0;

/// The chart of a study; nothing where it is not known of any of its arms.
pub(super) fn chart(subject: Subject, study: &str) -> Option<Chart> {
    let arms = subject.analysis.arms.iter();
    let arms: Vec<&ArmResult> =
        arms.filter(|arm| arm.study == study && whole(&arm.time) > 0.0).collect();
    let present =
        |kind: &TimeKind| arms.iter().flat_map(|arm| &arm.time).any(|part| part.kind == *kind);
    let kinds: Vec<TimeKind> = TimeKind::ALL.into_iter().filter(present).collect();
    if kinds.is_empty() {
        return None;
    }
    let quarters = [0.0, 0.25, 0.5, 0.75, 1.0];
    let mut drawn = Rows::new(
        quarters.map(|at| Tick { at, label: share_of(at), is_kept: false }).into_iter().collect(),
    );
    let entries = kinds.iter().map(|kind| (class(*kind), kind.as_str()));
    drawn.above(legend::height(kinds.len()), |y| legend::legend(entries, y));
    let mut table = Table::new(3, ["arm", "kind", "what", "per operation", "share"]);
    for arm in &arms {
        let name = names::of_arm(arm);
        drawn.row(&name, &figures(subject, arm), HEIGHT, |y| draw(&arm.time, y));
        for TimePart { kind, what, ns_per_op } in &arm.time {
            let share = share_of(ns_per_op / whole(&arm.time));
            table.add_row([&name, kind.as_str(), what, &time(*ns_per_op), &share]);
        }
    }
    Some(Chart {
        title: "Where the time went".to_owned(),
        about: "Each arm's time, from its own counters and the kernel's: time in syncs, locks and \
                waiting, and time on a processor. Each nanosecond is counted once."
            .to_owned(),
        drawing: drawn.finish(),
        table,
    })
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

fn figures(subject: Subject, arm: &ArmResult) -> Figures {
    let mut figures = vec![("strong", words::typical(subject, arm))];
    let largest = arm.time.iter().max_by(|a, b| a.ns_per_op.total_cmp(&b.ns_per_op));
    if let Some(part) = largest {
        let share = share_of(part.ns_per_op / whole(&arm.time));
        figures.push(("dim", format!("{} {share}", part.kind.as_str())));
    }
    figures
}

/// The kinds side by side, each with its parts together.
fn draw(parts: &[TimePart], y: f64) -> Markup {
    let whole = whole(parts);
    let mut from = 0.0;
    let bands = TimeKind::ALL.into_iter().filter_map(|kind| {
        let ns: f64 =
            parts.iter().filter(|part| part.kind == kind).map(|part| part.ns_per_op).sum();
        let to = from + ns / whole;
        let drawn = (ns > 0.0).then(|| band(from, to, y, HEIGHT, class(kind)));
        from = to;
        drawn
    });
    bands.collect()
}
