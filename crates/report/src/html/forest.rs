//! The comparisons of a study: the interval of each around "same".

use model::analysis::{ArmResult, Comparison, Verdict};
use units::{count, percent as percent_text, three_digits, time, two_digits};

use super::chart::{Chart, Drawing, Figures, Reading, Rows, circle, level, ticks, upright};
use super::markup::{Markup, classed};
use super::scale::{Scale, ratio_ticks};
use super::table::Table;
use crate::difference::{Difference, FACTOR_FROM};
use crate::names;
use crate::subject::Subject;

/// The height of what is drawn of a comparison.
pub(super) const HEIGHT: f64 = 14.0;
/// By this factor intervals may lengthen the axis on either side.
const LONGER: f64 = 2.0;

static READING: Reading = Reading {
    id: "reading-comparisons",
    title: "Comparisons",
    text: "The time per operation divided by the time of what it is compared with: left of “same” \
           is faster. The dot is the estimate and the line its confidence interval. The band is a \
           difference that is too small to matter.",
};

/// A comparison with what it compares.
struct Row<'a> {
    comparison: &'a Comparison,
    base: &'a ArmResult,
    other: &'a ArmResult,
}

/// The chart of a study; nothing where none of its arms are compared.
pub(super) fn chart(subject: Subject, study: &str) -> Option<Chart> {
    let rows = rows(subject, study);
    let drawing = drawing(&rows)?;
    let mut table = Table::new(
        2,
        [
            "combination",
            "compared with",
            "verdict",
            "difference",
            "interval",
            "99th percentile",
            "saves",
            "rounds",
        ],
    );
    for row in &rows {
        table.add_row(cells(row));
    }
    Some(Chart::new(study, READING.title, drawing, table).read_by(&READING))
}

fn drawing(rows: &[Row]) -> Option<Drawing> {
    let scale = scale(rows)?;
    let threshold = 1.0 + rows.first()?.comparison.threshold;
    let marks = ticks(&scale, &ratio_ticks(&scale), speed_mark);
    let mut drawn = Rows::new(marks).with_behind(scale.at(1.0 / threshold), scale.at(threshold));
    let mut base = "";
    for row in rows {
        if base != row.base.id {
            base = &row.base.id;
            drawn.heading(&format!("compared with {}", names::of_arm(row.base)));
        }
        let name = names::of_arm(row.other);
        drawn.row(&name, &figures(row.comparison), HEIGHT, |y| draw(row.comparison, &scale, y));
    }
    Some(drawn.finish())
}

fn rows<'a>(subject: Subject<'a>, study: &str) -> Vec<Row<'a>> {
    let row = |comparison: &'a Comparison| {
        let [base, other] = subject.sides(comparison)?;
        let is_known = comparison.ratio.is_some() && base.study == study;
        is_known.then_some(Row { comparison, base, other })
    };
    let mut rows: Vec<Row> = subject.analysis.comparisons.iter().filter_map(row).collect();
    let bases: Vec<&str> = rows.iter().map(|row| row.base.id.as_str()).collect();
    let first = |row: &Row| bases.iter().position(|base| *base == row.base.id);
    rows.sort_by_key(first);
    rows
}

/// An axis that holds 1 and the estimates, and as much of wider intervals as leaves those
/// apart.
fn scale(rows: &[Row]) -> Option<Scale> {
    let threshold = 1.0 + rows.first()?.comparison.threshold;
    let ratios = rows.iter().filter_map(|row| row.comparison.ratio);
    let inner: Vec<f64> = ratios.chain([threshold, 1.0 / threshold]).collect();
    let least = inner.iter().copied().fold(f64::INFINITY, f64::min) / LONGER;
    let most = inner.iter().copied().fold(0.0, f64::max) * LONGER;
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

pub(super) fn figures(comparison: &Comparison) -> Figures {
    let Difference { ratio, interval } = Difference::of(comparison);
    vec![
        ("strong", ratio),
        ("dim wide", interval),
        (class(comparison.verdict), comparison.verdict.as_str().to_owned()),
    ]
}

/// What is written at a mark of an axis of times over other times: `5×`, `20% less`, `same`,
/// `2× slower`.
pub(super) fn speed_mark(ratio: f64) -> String {
    let factor = |factor: f64| {
        let digits = two_digits(factor);
        digits.strip_suffix(".0").unwrap_or(&digits).to_owned()
    };
    match ratio {
        ratio if (ratio - 1.0).abs() < 1e-9 => "same".to_owned(),
        ratio if ratio <= 1.0 / FACTOR_FROM => format!("{}×", factor(1.0 / ratio)),
        ratio if ratio < 1.0 => format!("{} less", percent_text(1.0 - ratio)),
        ratio if ratio < FACTOR_FROM => format!("{} more", percent_text(ratio - 1.0)),
        ratio => format!("{}× slower", factor(ratio)),
    }
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

/// The interval of a comparison, with the mark of the estimate.
pub(super) fn draw(comparison: &Comparison, scale: &Scale, y: f64) -> Markup {
    let Comparison { ratio, ratio_low, ratio_high, verdict, .. } = *comparison;
    let middle = y + HEIGHT / 2.0;
    let [low, high] =
        [ratio_low.map_or(0.0, |r| scale.at(r)), ratio_high.map_or(1.0, |r| scale.at(r))];
    let mut all = Markup::from(upright(scale.at(1.0), y, y + HEIGHT, "one"));
    let mut interval = Markup::from(level(low, high, middle, "interval"));
    for (end, is_bounded) in [(low, ratio_low.is_some()), (high, ratio_high.is_some())] {
        if is_bounded && (0.001..0.999).contains(&end) {
            interval.push(upright(end, middle - 4.0, middle + 4.0, "interval"));
        }
    }
    interval.push(circle(scale.at(ratio.unwrap_or(1.0)), middle, 5.0, "centre"));
    all.push(classed("g", class(verdict)).child(interval));
    all
}

fn cells(row: &Row) -> [String; 8] {
    let Row { comparison, base, other } = row;
    let Difference { ratio, interval } = Difference::of(comparison);
    let tail = Difference::new(comparison.p99.ratio, None, None).ratio;
    [
        names::of_arm(other),
        names::of_arm(base),
        comparison.verdict.as_str().to_owned(),
        ratio,
        interval,
        tail,
        comparison.saves_ns_per_op.map_or_else(String::new, time),
        count(comparison.blocks),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_the_notation_of_verdicts() {
        let marks = [0.02, 0.33, 0.5, 0.8, 1.0, 1.25, 2.0, 10.0].map(speed_mark);
        let expected =
            ["50×", "3×", "2×", "20% less", "same", "25% more", "2× slower", "10× slower"];
        assert_eq!(marks, expected);
    }
}
