//! What several clients get done together, against how many there are.

use model::description::StudyDescription;
use model::scaling::Scaling;
use units::count;

use super::curves::{Curve, Curves, RATES};
use crate::scaling;
use crate::subject::Subject;

/// The curves of a study; nothing where there was one number of clients.
pub(super) fn curves(subject: Subject, study: &StudyDescription) -> Option<Curves> {
    let all = subject.analysis.scaling.iter().filter(|scaling| scaling.study == study.name);
    let all: Vec<&Scaling> = all.collect();
    let knees: Vec<String> = all.iter().map(|scaling| said(scaling, subject)).collect();
    (!all.is_empty()).then(|| Curves {
        subject: study.name.clone(),
        title: "All clients together, by their number".to_owned(),
        about: format!(
            "How many {}s all clients together get done in a second, from the first start to the \
             last end. {}",
            study.operation,
            knees.join(" ")
        ),
        against: "clients".to_owned(),
        written: |clients| count(clients as u64),
        measured: RATES,
        all: all.into_iter().map(|scaling| curve(scaling, subject)).collect(),
    })
}

fn said(scaling: &Scaling, subject: Subject) -> String {
    let name = scaling::name(scaling, subject.analysis);
    format!("{name}: {}", scaling::knee(scaling, subject.run.plan.threshold))
}

fn curve(scaling: &Scaling, subject: Subject) -> Curve {
    let points = scaling.points.iter().map(|point| (point.clients as f64, point.per_s));
    Curve {
        name: scaling::name(scaling, subject.analysis),
        points: points.collect(),
        ranges: Vec::new(),
    }
}
