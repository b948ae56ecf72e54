//! What the slices of all clients came to, as one.

use model::integrity::Integrity;
use model::slice::Outcome;
use model::study::{FigureDescription, Fold, StudyDescription};

/// What the slices of all clients came to, as one.
pub(super) fn joined(study: &StudyDescription, outcomes: &[Outcome]) -> Outcome {
    let count = outcomes.len().max(1) as f64;
    let folded = |figure: &FigureDescription| {
        let values = outcomes.iter().filter_map(|outcome| outcome.figures.get(&figure.name));
        let values: Vec<f64> = values.copied().collect();
        let sum = values.iter().sum::<f64>();
        let one = match figure.fold {
            Fold::Mean => sum / values.len() as f64,
            Fold::Max => values.iter().copied().fold(f64::MIN, f64::max),
            Fold::Sum | Fold::PerOperation => sum,
        };
        (!values.is_empty()).then(|| (figure.name.clone(), one))
    };
    let scores: Option<Vec<f64>> = outcomes.iter().map(|outcome| outcome.score_ns).collect();
    Outcome {
        integrity: outcomes.iter().filter_map(|o| o.integrity.clone()).reduce(Integrity::and),
        figures: study.figures.iter().filter_map(folded).collect(),
        score_ns: scores.map(|scores| scores.iter().sum::<f64>() / count),
        failed: outcomes.iter().map(|outcome| outcome.failed).sum(),
        tail_untrusted: outcomes.iter().any(|outcome| outcome.tail_untrusted),
        untrusted: outcomes.iter().find_map(|outcome| outcome.untrusted.clone()),
        ..Outcome::default()
    }
}
