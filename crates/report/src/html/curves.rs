//! Times, or rates, against a parameter that has several numbers as values, as a server's
//! against the rate at which it is asked.

use units::{count, time};

use super::chart::{
    Chart, Drawing, centred, dots, label, level, line, path, percent, plot, ticks, upright,
};
use super::latency::short_time;
use super::legend::SERIES;
use super::markup::{Markup, classed, el};
use super::scale::Scale;
use super::table::Table;
use crate::words::rate;

const HEIGHT: f64 = 260.0;
const LEGEND_LINE: f64 = 18.0;
/// More curves than this cannot be told apart.
pub(super) const CURVES_MAX: usize = SERIES.len();

/// Points of one kind, in order along the axis.
pub(super) struct Curve {
    pub(super) name: String,
    /// What it is against, and the time in nanoseconds, or the rate per second.
    pub(super) points: Vec<(f64, f64)>,
    /// What the middle half of the rounds lies between, at each value where that is known.
    pub(super) ranges: Vec<(f64, [f64; 2])>,
}

/// How what is measured is written: at the axis, and in the table.
#[derive(Clone, Copy)]
pub(super) struct Measured {
    at_axis: fn(f64) -> String,
    in_table: fn(f64) -> String,
}

/// In nanoseconds.
pub(super) const TIMES: Measured = Measured { at_axis: short_time, in_table: time };
/// In a second.
pub(super) const RATES: Measured = Measured { at_axis: per_second, in_table: rate };

/// Curves of something that is measured against something else.
pub(super) struct Curves {
    /// The study, for the name of a file.
    pub(super) subject: String,
    pub(super) title: String,
    pub(super) about: String,
    /// What they are against.
    pub(super) against: String,
    /// How its values are written.
    pub(super) written: fn(f64) -> String,
    pub(super) measured: Measured,
    pub(super) all: Vec<Curve>,
}

impl Curves {
    /// The chart; nothing where there is nothing to draw.
    pub(super) fn chart(self) -> Option<Chart> {
        let all = || self.all.iter().flat_map(|curve| &curve.points);
        let across = Scale::log(all().map(|(x, _)| *x))?;
        let up = Scale::log(all().map(|(_, y)| *y))?;
        let values = self.values();
        let mut table = Table::new(
            1,
            [self.against.clone()].into_iter().chain(self.all.iter().map(|c| c.name.clone())),
        );
        for value in &values {
            let at = |curve: &Curve| {
                let found = curve.points.iter().find(|(x, _)| (x - value).abs() < f64::EPSILON);
                found.map_or_else(String::new, |(_, y)| (self.measured.in_table)(*y))
            };
            let cells = self.all.iter().map(at);
            table.add_row([(self.written)(*value)].into_iter().chain(cells));
        }
        let drawing = self.drawing(&across, &up, &values, CURVES_MAX);
        Some(Chart::new(&self.subject, &self.title, drawing, table).about(self.about))
    }

    /// The values along the axis, each once.
    pub(super) fn values(&self) -> Vec<f64> {
        let points = self.all.iter().flat_map(|curve| &curve.points);
        let mut values: Vec<f64> = points.map(|(x, _)| *x).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// The curves, as many as that, between these axes.
    pub(super) fn drawing(
        &self,
        across: &Scale,
        up: &Scale,
        values: &[f64],
        curves_max: usize,
    ) -> Drawing {
        let drawn = &self.all[..self.all.len().min(curves_max)];
        let top = LEGEND_LINE * drawn.len() as f64 + 12.0;
        let bottom = top + HEIGHT;
        let mut all = Markup::default();
        // The values themselves are marked where they are few, as measured ones are.
        let round = across.ticks();
        let marked = if values.len() <= 6 { values } else { round.as_slice() };
        for tick in ticks(across, marked, self.written) {
            all.push(upright(tick.at, top, bottom, "grid"));
            all.push(label(tick.at, bottom + 16.0, &tick.label));
        }
        all.push(centred(0.5, bottom + 34.0, "dim", &self.against));
        for value in up.ticks() {
            let y = top + (1.0 - up.at(value)) * HEIGHT;
            all.push(level(0.0, 1.0, y, "grid"));
            let written = (self.measured.at_axis)(value);
            all.push(classed("text", "dim").attr("x", 0).attr("y", y - 3.0).text(written));
        }
        for (position, (curve, class)) in drawn.iter().zip(SERIES).enumerate() {
            let points = || curve.points.iter().map(|(x, y)| [across.at(*x), 1.0 - up.at(*y)]);
            let mut parts = Markup::from(path("curve", line(points())));
            parts.push(path("points", dots(points())));
            let ranges = curve.ranges.iter().map(|(x, ends)| {
                let [bottom, top] = ends.map(|end| top + (1.0 - up.at(end)) * HEIGHT);
                upright(across.at(*x), top, bottom, "interval")
            });
            let y = position as f64 * LEGEND_LINE;
            let sample = level(0.0, 0.06, y + 9.0, "curve");
            let text = el("text").attr("x", percent(0.08)).attr("y", y + 13.0).text(&curve.name);
            let group = classed("g", class).children(ranges).child(plot(top, HEIGHT, parts));
            let group = group.child(sample);
            all.push(group.child(text));
        }
        Drawing { height: bottom + 40.0, parts: all }
    }
}

/// A rate, as it is written at an axis.
pub(super) fn per_second(rate: f64) -> String {
    if rate.fract() == 0.0 {
        format!("{}/s", count(rate as u64))
    } else {
        format!("{}/s", units::three_digits(rate))
    }
}
