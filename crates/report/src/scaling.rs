//! How what several clients get done together grows with their number.

use model::analysis::Analysis;
use model::description::StudyDescription;
use model::scaling::{CLIENTS, Scaling, ScalingPoint};
use units::{count, counted, percent};

use crate::names;
use crate::text::{Width, list};
use crate::words::rate;

/// The section of one study; nothing where there was one number of clients.
pub(crate) fn section(
    study: &StudyDescription,
    analysis: &Analysis,
    threshold: f64,
    width: Width,
) -> String {
    let said = |scaling| sentence(scaling, study, analysis, threshold);
    let of_study = analysis.scaling.iter().filter(|scaling| scaling.study == study.name);
    list("  Clients together", &of_study.map(said).collect::<Vec<_>>(), width)
}

fn sentence(
    scaling: &Scaling,
    study: &StudyDescription,
    analysis: &Analysis,
    threshold: f64,
) -> String {
    let name = name(scaling, analysis);
    let each = |(position, point): (usize, &ScalingPoint)| {
        let unit = if position > 0 { String::new() } else { format!(" {}s/s", study.operation) };
        format!("{}{unit} with {}", rate(point.per_s), count(point.clients))
    };
    let rates: Vec<String> = scaling.points.iter().enumerate().map(each).collect();
    format!("{name}: {}. {}", rates.join(", "), knee(scaling, threshold))
}

/// What is done, how and where, whatever the number of clients.
pub(crate) fn name(scaling: &Scaling, analysis: &Analysis) -> String {
    let first = scaling.points.first().and_then(|point| analysis.arms.get(point.arm));
    first.map_or_else(String::new, |arm| names::without(arm, &[CLIENTS]))
}

/// Where it ends to grow, in a sentence.
pub(crate) fn knee(Scaling { points, knee, .. }: &Scaling, threshold: f64) -> String {
    let clients = counted(*knee, "client");
    if points.last().is_some_and(|last| last.clients == *knee) {
        format!("It still grows at {clients}.")
    } else {
        format!("No more gets done by more than {clients} (within {}).", percent(threshold))
    }
}
