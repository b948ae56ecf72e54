//! How long single operations took: distributions on an axis of logarithms, those of all places
//! over each other.

use model::analysis::{ArmResult, Latency};
use model::grouped::in_groups;
use model::printable::{printable, shortened};
use model::slice::Latencies;
use units::{count, time};

use super::chart::{
    ACROSS, Chart, DOWN, Drawing, Figures, Reading, Rows, path, plot, ticks, upright,
};
use super::legend::{self, SERIES};
use super::markup::{Markup, classed};
use super::panels::{Panel, panels};
use super::scale::Scale;
use super::table::Table;
use crate::names;
use crate::subject::Subject;

/// The height of a row, unless it has more places.
const HEIGHT: f64 = 44.0;
/// Latencies are known within 1%, so that steps of an outline are twice as wide at the least.
const STEP_MIN: f64 = 0.02;
const STEPS_MAX: f64 = 200.0;
/// What the legend takes.
const LEGEND: f64 = 26.0;
/// What is left free above the lines of the maxima.
const MAXIMUM_TOP: f64 = 6.0;
/// Letters of a maximum stand so far below the upper end of a row, and a line apart.
const MAXIMUM_BASELINE: f64 = 10.0;
const MAXIMUM_LINE: f64 = 13.0;

static READING: Reading = Reading {
    id: "reading-latency",
    title: "How long single operations take",
    text: "Each outline shows how many operations took about that long, in the colour of its \
           place. Its height is the square root of their share, so that rare ones stay visible. \
           The tall mark is the median, the short ones are the 90th and 99th percentiles. The \
           axis ends at the highest 99.9th percentile; the longest operation is written at that \
           edge.",
};

/// A combination with how its operations' times are spread, in nanoseconds.
#[derive(Clone)]
struct Spread<'a> {
    arm: &'a ArmResult,
    latency: Latency,
    /// How many operations took about so long.
    buckets: Vec<(f64, u64)>,
}

/// The chart of a study; nothing where none of its operations were timed.
pub(super) fn chart(subject: Subject, study: &str) -> Option<Chart> {
    let spreads = spreads(subject, study);
    if spreads.is_empty() {
        return None;
    }
    let heads = ["combination", "operations", "mean", "median", "90%", "99%", "99.9%", "longest"];
    let mut table = Table::new(1, heads);
    for Spread { arm, latency, .. } in &spreads {
        let Latency { mean, p50, p90, p99, p999, max } = *latency;
        let times = [mean, p50, p90, p99, p999, max].map(time);
        let facts = [names::of_arm(arm), count(arm.operations)];
        table.add_row(facts.into_iter().chain(times));
    }
    let places: Vec<&str> = subject.run.places.iter().map(|place| place.label.as_str()).collect();
    let drawn = panels(subject, study);
    let drawn = drawn.iter().filter_map(|panel| drawing(panel, &spreads, &places));
    let drawing = drawn.fold(legend(&places), Drawing::above);
    Some(Chart::new(study, READING.title, drawing, table).read_by(&READING))
}

/// The places with their colours.
/// As many characters fit beside each other on a telephone.
const LEGEND_CHARS: usize = 40;

fn legend(places: &[&str]) -> Drawing {
    let beside = places.len().max(2);
    let entry = |(position, place): (usize, &&str)| {
        let at = position as f64 / beside as f64;
        let place = printable(place);
        let place = shortened(&place, LEGEND_CHARS / beside);
        classed("g", class(position)).children(legend::entry(at, 0.0, "spread", &place))
    };
    let parts = places.iter().enumerate().map(entry).collect();
    Drawing { height: LEGEND, parts }
}

fn class(place: usize) -> &'static str {
    SERIES[place % SERIES.len()]
}

/// The ways of a panel, each with the outlines of its places over each other.
fn drawing(panel: &Panel, all: &[Spread], places: &[&str]) -> Option<Drawing> {
    let spread = |arm: &ArmResult| all.iter().find(|spread| spread.arm.id == arm.id);
    let own: Vec<&Spread> = panel.arms.iter().filter_map(|(_, arm)| spread(arm)).collect();
    let ends = own.iter().flat_map(|spread| {
        let first = spread.buckets.first().map(|(ns, _)| *ns);
        first.into_iter().chain([spread.latency.p50, spread.latency.p999])
    });
    let scale = Scale::log(ends)?;
    let mut rows = Rows::new(ticks(&scale, &scale.ticks(), short_time));
    if !panel.heading.is_empty() {
        rows.heading(&panel.heading);
    }
    for (name, way) in in_groups(own.into_iter().map(|own| (names::of_way(own.arm), own))) {
        let outlines: Vec<(usize, &Spread)> = way
            .into_iter()
            .filter_map(|spread| {
                Some((places.iter().position(|p| *p == spread.arm.place)?, spread))
            })
            .collect();
        if outlines.is_empty() {
            continue;
        }
        let height = HEIGHT.max(MAXIMUM_TOP + MAXIMUM_LINE * outlines.len() as f64);
        rows.row(&name, &figures(&outlines), height, |y| draw(&outlines, &scale, y, height));
    }
    Some(rows.finish())
}

/// The medians, each in the colour of its place.
fn figures(placed: &[(usize, &Spread)]) -> Figures {
    let figure = |(place, spread): &(usize, &Spread)| (class(*place), time(spread.latency.p50));
    placed.iter().map(figure).collect()
}

fn spreads<'a>(subject: Subject<'a>, study: &str) -> Vec<Spread<'a>> {
    let arms = subject.analysis.arms.iter().zip(subject.run.latencies_by_arm());
    let row = |(arm, all): (&'a ArmResult, Latencies)| {
        let tick_ns = subject.run.floor.tick_ns;
        let buckets: Vec<(f64, u64)> =
            all.buckets.iter().map(|(ticks, times)| (*ticks as f64 * tick_ns, *times)).collect();
        (!buckets.is_empty()).then_some(Spread { arm, latency: arm.time_per_op_ns?, buckets })
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

fn draw(placed: &[(usize, &Spread)], scale: &Scale, y: f64, height: f64) -> Markup {
    let bottom = y + height;
    let mut all = Markup::default();
    for (line, (place, spread)) in placed.iter().enumerate() {
        let Latency { p50, p90, p99, max, .. } = spread.latency;
        let outline = plot(y, height, path("spread", outline(&spread.buckets, scale)));
        let mut drawn = Markup::from(outline);
        drawn.push(upright(scale.at(p50), y, bottom + 3.0, "interval"));
        for percentile in [p90, p99] {
            drawn.push(upright(scale.at(percentile), bottom - 7.0, bottom + 3.0, "interval"));
        }
        let text = classed("text", "maximum").attr("x", "100%").attr("text-anchor", "end");
        let text = text.attr("y", y + MAXIMUM_BASELINE + line as f64 * MAXIMUM_LINE);
        drawn.push(text.text(format!("longest {} →", time(max))));
        all.push(classed("g", class(*place)).child(drawn));
    }
    all
}

/// Steps as high as the share of operations that they hold.
fn outline(buckets: &[(f64, u64)], scale: &Scale) -> String {
    let steps = (scale.log_width() / STEP_MIN).clamp(10.0, STEPS_MAX).floor();
    let mut held = vec![0_u64; steps as usize + 1];
    for (ns, times) in buckets.iter().filter(|(ns, _)| scale.holds(*ns)) {
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
        assert!(data.contains("H495V0H500"), "{data}");
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
