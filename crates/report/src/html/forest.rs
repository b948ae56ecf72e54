//! How a study's arms differ: the interval of each comparison around "same", with the
//! ratio of every block behind it.

use model::analysis::{ArmResult, Comparison, Verdict};
use model::arm::Pair;
use units::{count, three_digits, time};

use super::block_times::{BlockTimes, OfBlock, quantile, sorted};
use super::chart::{Chart, Figures, Rows, dots, level, path, percent, plot, ticks, upright};
use super::markup::{Markup, classed};
use super::scale::{Scale, ratio_ticks};
use super::table::Table;
use crate::difference::Difference;
use crate::names;
use crate::subject::Subject;

/// The height of what is drawn of a comparison.
const HEIGHT: f64 = 24.0;
/// The share of the blocks that may lie beyond the ends of the axis, on either side.
const BEYOND: f64 = 0.02;
/// By this factor intervals may lengthen the axis on either side.
const BESIDE: f64 = 2.0;

/// A comparison with its arms and what its blocks came to.
struct Row<'a> {
    comparison: &'a Comparison,
    base: &'a ArmResult,
    other: &'a ArmResult,
    blocks: Vec<OfBlock>,
}

/// The chart of a study; nothing where none of its arms are compared.
pub(super) fn chart(subject: Subject, study: &str, typical_times: &BlockTimes) -> Option<Chart> {
    of_rows(&rows(subject, study, typical_times))
}

/// The same of the comparisons with what is done now.
pub(super) fn against_now(
    subject: Subject,
    study: &str,
    typical_times: &BlockTimes,
) -> Option<Chart> {
    let mut rows = rows(subject, study, typical_times);
    rows.retain(|row| subject.analysis.is_now(&row.base.id));
    of_rows(&rows)
}

fn of_rows(rows: &[Row]) -> Option<Chart> {
    let scale = scale(rows)?;
    let threshold = 1.0 + rows.first()?.comparison.threshold;
    let marks = ticks(&scale, &ratio_ticks(&scale), mark);
    let mut drawn = Rows::new(marks).with_behind(scale.at(1.0 / threshold), scale.at(threshold));
    let mut table = Table::new(
        2,
        [
            "arm",
            "against",
            "verdict",
            "ratio",
            "interval",
            "99th percentile",
            "saves",
            "blocks",
            "lowest block",
            "quarter",
            "median",
            "three quarters",
            "highest block",
        ],
    );
    let mut base = "";
    for row in rows {
        if base != row.base.id {
            base = &row.base.id;
            drawn.heading(&format!("against {}", names::of_arm(row.base)));
        }
        drawn.row(&names::of_arm(row.other), &figures(row), HEIGHT, |y| draw(row, &scale, y));
        table.add_row(cells(row));
    }
    Some(Chart {
        title: "How the arms differ".to_owned(),
        about: format!(
            "Time per operation divided by that of the arm it is compared with: left of “same” is \
             faster. The line is the confidence interval, the large dot the estimate, and each \
             small dot one block, the first block on top. The band is a difference under {}, \
             which counts as none. Blocks beyond an end of the axis are drawn at that end.",
            units::percent(threshold - 1.0)
        ),
        drawing: drawn.finish(),
        table,
    })
}

fn rows<'a>(subject: Subject<'a>, study: &str, typical_times: &BlockTimes) -> Vec<Row<'a>> {
    let pairs = subject.run.plan.pairs.iter();
    let row = |(comparison, pair): (&'a Comparison, &Pair)| {
        let [base, other] = subject.sides(comparison)?;
        let is_known = comparison.ratio.is_some() && base.study == study;
        is_known.then(|| Row { comparison, base, other, blocks: typical_times.pair(*pair) })
    };
    let mut rows: Vec<Row> =
        subject.analysis.comparisons.iter().zip(pairs).filter_map(row).collect();
    let bases: Vec<&str> = rows.iter().map(|row| row.base.id.as_str()).collect();
    let first = |row: &Row| bases.iter().position(|base| *base == row.base.id);
    rows.sort_by_key(first);
    rows
}

/// An axis that holds 1, the centres and nearly all blocks, and as much of wider intervals
/// as leaves those apart.
fn scale(rows: &[Row]) -> Option<Scale> {
    let threshold = 1.0 + rows.first()?.comparison.threshold;
    let centre = |row: &Row| {
        let sorted = sorted(&row.blocks);
        let blocks = [BEYOND, 1.0 - BEYOND].map(|share| quantile(&sorted, share));
        blocks.into_iter().chain([row.comparison.ratio]).flatten().collect::<Vec<f64>>()
    };
    let inner: Vec<f64> =
        rows.iter().flat_map(centre).chain([threshold, 1.0 / threshold]).collect();
    let least = inner.iter().copied().fold(f64::INFINITY, f64::min) / BESIDE;
    let most = inner.iter().copied().fold(0.0, f64::max) * BESIDE;
    let ends = |row: &Row| [row.comparison.ratio_low, row.comparison.ratio_high];
    let ends = rows.iter().flat_map(ends).flatten().map(|end| end.clamp(least, most));
    Scale::log(ends.chain(inner.iter().copied()))
}

/// What is written at a mark of an axis of ratios.
pub(super) fn mark(ratio: f64) -> String {
    if (ratio - 1.0).abs() < 1e-9 {
        return "same".to_owned();
    }
    let digits = if ratio.fract().abs() < 1e-9 && ratio < 1e15 {
        count(ratio as u64)
    } else {
        let digits = three_digits(ratio);
        if digits.contains('.') { digits.trim_end_matches('0').to_owned() } else { digits }
    };
    format!("×{digits}")
}

fn figures(row: &Row) -> Figures {
    let Difference { ratio, interval } = Difference::of(row.comparison);
    vec![
        ("strong", ratio),
        ("dim wide", interval),
        (class(row.comparison.verdict), row.comparison.verdict.as_str().to_owned()),
    ]
}

/// The class of what is drawn and written of a verdict.
pub(super) fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Same => "equal",
        Verdict::Unclear => "unclear",
        Verdict::Invalid => "invalid",
    }
}

fn draw(row: &Row, scale: &Scale, y: f64) -> Markup {
    let Comparison { ratio, ratio_low, ratio_high, verdict, .. } = *row.comparison;
    let middle = y + HEIGHT / 2.0;
    let [low, high] =
        [ratio_low.map_or(0.0, |r| scale.at(r)), ratio_high.map_or(1.0, |r| scale.at(r))];
    let points = row.blocks.iter().map(|of| [scale.at(of.value), 0.06 + 0.88 * of.at]);
    let mut all = Markup::from(upright(scale.at(1.0), y, y + HEIGHT, "one"));
    all.push(plot(y, HEIGHT, path("dots", dots(points))));
    all.push(level(low, high, middle, "halo"));
    let mut interval = Markup::from(level(low, high, middle, "interval"));
    for (end, is_bounded) in [(low, ratio_low.is_some()), (high, ratio_high.is_some())] {
        if is_bounded && (0.001..0.999).contains(&end) {
            interval.push(upright(end, middle - 4.0, middle + 4.0, "interval"));
        }
    }
    let centre = classed("circle", "centre").attr("cx", percent(scale.at(ratio.unwrap_or(1.0))));
    interval.push(centre.attr("cy", middle).attr("r", 5));
    all.push(classed("g", class(verdict)).child(interval));
    all
}

fn cells(row: &Row) -> Vec<String> {
    let Row { comparison, base, other, blocks } = row;
    let Difference { ratio, interval } = Difference::of(comparison);
    let sorted = sorted(blocks);
    let tail = Difference::new(comparison.p99.ratio, None, None).ratio;
    let saves = comparison.saves_ns_per_op.map_or_else(String::new, time);
    let mut cells = vec![
        names::of_arm(other),
        names::of_arm(base),
        comparison.verdict.as_str().to_owned(),
        ratio,
        interval,
        tail,
        saves,
        count(comparison.blocks),
    ];
    cells.extend([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        quantile(&sorted, share)
            .map_or_else(String::new, |ratio| format!("×{}", three_digits(ratio)))
    }));
    cells
}
