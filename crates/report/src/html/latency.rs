//! How long individual operations took: each arm's distribution on one axis of logarithms.

use model::analysis::{ArmResult, Latency};
use model::slice::Latencies;
use units::{count, time};

use super::chart::{ACROSS, Chart, DOWN, Rows, level, path, percent, plot, ticks, upright};
use super::markup::{Markup, classed};
use super::scale::Scale;
use super::table::Table;
use crate::names;
use crate::subject::Subject;

const HEIGHT: f64 = 26.0;
/// Latencies are known within 1%, so that steps of an outline are twice as wide at the least.
const STEP_MIN: f64 = 0.02;
const STEPS_MAX: f64 = 300.0;

/// An arm with how its operations' times are spread, in nanoseconds.
struct Row<'a> {
    arm: &'a ArmResult,
    latency: Latency,
    /// How many operations took about so long.
    buckets: Vec<(f64, u64)>,
}

/// The chart of a study; nothing where none of its operations were timed.
pub(super) fn chart(subject: Subject, study: &str) -> Option<Chart> {
    let rows = rows(subject, study);
    let ends = rows.iter().flat_map(|row| {
        let first = row.buckets.first().map(|(ns, _)| *ns);
        first.into_iter().chain([row.latency.max, row.latency.p50])
    });
    let scale = Scale::log(ends)?;
    let mut drawn = Rows::new(ticks(&scale, &scale.ticks(), short_time));
    let heads = ["arm", "operations", "mean", "median", "90%", "99%", "99.9%", "longest"];
    let mut table = Table::new(1, heads);
    for row in &rows {
        let name = names::of_arm(row.arm);
        let Latency { mean, p50, p90, p99, p999, max } = row.latency;
        let figures = [
            ("strong", time(p50)),
            ("dim", format!("99%: {}", time(p99))),
            ("dim wide", format!("longest: {}", time(max))),
        ];
        drawn.row(&name, &figures, HEIGHT, |y| draw(row, &scale, y));
        let times = [mean, p50, p90, p99, p999, max].map(time);
        table.add_row([name, count(row.arm.operations)].into_iter().chain(times));
    }
    Some(Chart {
        title: "How long individual operations took".to_owned(),
        about:
            "The outline shows how many operations took about that long; its height is the square \
             root of their share, so that rare ones stay visible. The tall mark is the median; the \
             short ones are the 90th, 99th and 99.9th percentiles, and the ring is the longest \
             operation."
                .to_owned(),
        drawing: drawn.finish(),
        table,
    })
}

fn rows<'a>(subject: Subject<'a>, study: &str) -> Vec<Row<'a>> {
    let arms = subject.analysis.arms.iter().zip(subject.run.latencies_by_arm());
    let row = |(arm, all): (&'a ArmResult, Latencies)| {
        let tick_ns = subject.run.floor.tick_ns;
        let buckets: Vec<(f64, u64)> =
            all.buckets.iter().map(|(ticks, times)| (*ticks as f64 * tick_ns, *times)).collect();
        (!buckets.is_empty()).then_some(Row { arm, latency: arm.time_per_op_ns?, buckets })
    };
    arms.filter(|(arm, _)| arm.study == study).filter_map(row).collect()
}

/// A mark of an axis of time: `5 µs`.
pub(super) fn short_time(ns: f64) -> String {
    let text = time(ns);
    let Some((number, unit)) = text.split_once(' ') else { return text };
    let number = if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    };
    format!("{number} {unit}")
}

fn draw(row: &Row, scale: &Scale, y: f64) -> Markup {
    let Latency { p50, p90, p99, p999, max, .. } = row.latency;
    let bottom = y + HEIGHT;
    let first = row.buckets.first().map_or(p50, |(ns, _)| *ns);
    let mut all = Markup::from(plot(y, HEIGHT, path("area", outline(&row.buckets, scale))));
    all.push(level(scale.at(first), scale.at(max), bottom, "base"));
    all.push(upright(scale.at(p50), y, bottom + 3.0, "median"));
    for percentile in [p90, p99, p999] {
        all.push(upright(scale.at(percentile), bottom - 7.0, bottom + 3.0, "mark"));
    }
    let ring = classed("circle", "ring").attr("cx", percent(scale.at(max)));
    all.push(ring.attr("cy", bottom).attr("r", 3));
    all
}

/// Steps as high as the share of operations that they hold.
fn outline(buckets: &[(f64, u64)], scale: &Scale) -> String {
    let steps = (scale.log_width() / STEP_MIN).clamp(10.0, STEPS_MAX).floor();
    let mut held = vec![0_u64; steps as usize + 1];
    for (ns, times) in buckets {
        held[(scale.at(*ns) * steps) as usize] += times;
    }
    let most = held.iter().copied().max().unwrap_or_default().max(1) as f64;
    let mut data = format!("M0 {DOWN}");
    let mut last = DOWN;
    for (step, times) in held.iter().enumerate() {
        // By its square root, a hundredth is still a tenth as high; what is there at all is seen.
        let high = (*times as f64 / most).sqrt() * DOWN;
        let high = high.max(if *times > 0 { 2.0 } else { 0.0 });
        let y = (DOWN - high).round();
        if (y - last).abs() > 0.5 {
            data += &format!("H{}V{y}", (step as f64 / steps * ACROSS).round());
            last = y;
        }
    }
    data + &format!("H{ACROSS}V{DOWN}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_highest_where_most_operations_are() {
        let scale = Scale::log([100.0, 10_000.0]).unwrap_or_else(|| panic!("it has ends"));
        let data = outline(&[(100.0, 1), (1000.0, 98), (10_000.0, 1)], &scale);
        assert_eq!(data.matches("V0").count(), 1, "{data}");
        assert!(data.contains("H496V0H500"), "{data}");
        assert_eq!(data.matches("V90").count(), 2, "{data}");
    }

    #[test]
    fn marks_of_time_are_short() {
        assert_eq!(
            [5e3, 500.0, 1.5e6, 100e3].map(short_time),
            ["5 µs", "500 ns", "1.5 ms", "100 µs"]
        );
    }
}
