//! Which of a study's parameters were measured at several numbers, and the curves that
//! follow.

use model::analysis::ArmResult;
use model::description::{ParamDescription, ParamForm, Score};
use units::{parse_duration, parse_size};

use super::block_times::{BlockTimes, quantile, sorted};
use super::curves::{CURVES_MAX, Curve, Curves, TIMES, per_second};
use crate::names;
use crate::subject::Subject;

/// Fewer points than this are no curve, but for rates, of which two tell something.
const POINTS_MIN: usize = 3;

/// The curves of a study, one chart for each such parameter.
pub(super) fn curves(subject: Subject, study: &str) -> Vec<Curves> {
    let Some(description) = subject.run.study(study) else { return Vec::new() };
    let times = BlockTimes::of(subject.run);
    let arms: Vec<(usize, &ArmResult)> = subject.arms_of(study).collect();
    let curves = |param| of_param(subject, study, param, &arms, &times, None);
    description.params.iter().filter_map(curves).collect()
}

/// The curves of these combinations along a parameter; the name of each leaves out that and
/// another one. Nothing where no combination has enough values of it.
pub(super) fn of_param(
    subject: Subject,
    study: &str,
    param: &ParamDescription,
    arms: &[(usize, &ArmResult)],
    times: &BlockTimes,
    besides: Option<&str>,
) -> Option<Curves> {
    let description = subject.run.study(study)?;
    let (read, written) = form(param.kind)?;
    // What is the same but for the parameter is one curve.
    let mut curves: Vec<Curve> = Vec::new();
    for (position, arm) in arms {
        let is_time = description.score_of(&arm.params) != Score::HighestRate;
        let value = arm.params.get(&param.name).and_then(|value| read(value));
        let (Some(value), Some(typical_ns), true) = (value, arm.typical_ns, is_time) else {
            continue;
        };
        let left_out: Vec<&str> = std::iter::once(param.name.as_str()).chain(besides).collect();
        let name = names::without(arm, &left_out);
        let known = curves.iter().position(|curve| curve.name == name);
        let known = known.unwrap_or_else(|| {
            curves.push(Curve { name, points: Vec::new(), ranges: Vec::new() });
            curves.len() - 1
        });
        curves[known].points.push((value, typical_ns));
        let rounds = sorted(&times.arm(*position));
        if let (Some(low), Some(high)) = (quantile(&rounds, 0.25), quantile(&rounds, 0.75)) {
            curves[known].ranges.push((value, [low, high]));
        }
    }
    let least = if param.kind == ParamForm::Rate { 2 } else { POINTS_MIN };
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        curve.points.dedup_by(|a, b| (a.0 - b.0).abs() < f64::EPSILON);
    }
    curves.retain(|curve| curve.points.len() >= least);
    if curves.is_empty() {
        return None;
    }
    let more = match curves.len().saturating_sub(CURVES_MAX) {
        0 => String::new(),
        more => format!(" {more} more are only in the table."),
    };
    Some(Curves {
        subject: study.to_owned(),
        title: format!("Time by {}", param.name),
        about: format!(
            "Time per operation at each value of {}: {}. The upright lines hold the middle half \
             of the rounds.{more}",
            param.name, param.about
        ),
        against: param.name.clone(),
        written,
        measured: TIMES,
        all: curves,
    })
}

/// How values are read, and how they are written.
type Form = (fn(&str) -> Option<f64>, fn(f64) -> String);

/// How values of that kind are read and written; nothing where they are no numbers.
fn form(kind: ParamForm) -> Option<Form> {
    Some(match kind {
        ParamForm::Rate => {
            (|text| text.parse().ok().filter(|rate: &f64| rate.is_finite()), per_second)
        }
        ParamForm::Size | ParamForm::Sizes => (
            |text| parse_size(text).ok().map(|bytes| bytes as f64),
            |bytes| units::exact_size(bytes as u64),
        ),
        ParamForm::Count => {
            (|text| text.parse::<u64>().ok().map(|n| n as f64), |n| units::count(n as u64))
        }
        ParamForm::Duration => (
            |text| parse_duration(text).ok().map(|time| time.as_secs_f64() * 1e9),
            super::latency::short_time,
        ),
        _ => return None,
    })
}
