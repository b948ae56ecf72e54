//! Which of a study's parameters were measured at several numbers, and the curves that
//! follow.

use std::collections::BTreeMap;

use model::description::{ParamDescription, ParamForm, Score};
use units::{parse_duration, parse_size};

use super::curves::{CURVES_MAX, Curve, Curves, TIMES, per_second};
use crate::names;
use crate::subject::Subject;

/// Fewer points than this are no curve, but for rates, of which two tell something.
const POINTS_MIN: usize = 3;

/// The curves of a study, one chart for each such parameter.
pub(super) fn curves(subject: Subject, study: &str) -> Vec<Curves> {
    let Some(description) = subject.run.study(study) else { return Vec::new() };
    let params = description.params.iter();
    params.filter_map(|param| of_param(subject, study, param)).collect()
}

fn of_param(subject: Subject, study: &str, param: &ParamDescription) -> Option<Curves> {
    let description = subject.run.study(study)?;
    let (read, written) = form(param.kind)?;
    // What is the same but for the parameter is one curve.
    let mut curves: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for arm in subject.analysis.arms.iter().filter(|arm| arm.study == study) {
        let is_time = description.score_of(&arm.params) != Score::HighestRate;
        let value = arm.params.get(&param.name).and_then(|value| read(value));
        let (Some(value), Some(typical_ns), true) = (value, arm.typical_ns, is_time) else {
            continue;
        };
        let name = names::without(arm, &param.name);
        if !curves.contains_key(&name) {
            order.push(name.clone());
        }
        curves.entry(name).or_default().push((value, typical_ns));
    }
    let least = if param.kind == ParamForm::Rate { 2 } else { POINTS_MIN };
    let curves = order.into_iter().filter_map(|name| {
        let mut points = curves.remove(&name)?;
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| (a.0 - b.0).abs() < f64::EPSILON);
        (points.len() >= least).then_some(Curve { name, points })
    });
    let curves: Vec<Curve> = curves.collect();
    if curves.is_empty() {
        return None;
    }
    let untold = curves.len().saturating_sub(CURVES_MAX);
    let more = match untold {
        0 => String::new(),
        more => format!(" {more} more are only in the table."),
    };
    Some(Curves {
        subject: study.to_owned(),
        title: format!("Time by {}", param.name),
        about: format!("The toll at each value of {}: {}.{more}", param.name, param.about),
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
