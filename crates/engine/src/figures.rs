//! From the slices' figures to their arm's.

use std::collections::BTreeMap;

use model::result::Integrity;
use model::sample::{EVIDENCE_PREFIX, Sample};
use model::study::{FigureSpec, Fold};

/// Each figure over all slices that have it; one that none has is left out.
pub(crate) fn fold(
    specs: &[FigureSpec],
    samples: &[&Sample],
    operations: u64,
) -> BTreeMap<String, f64> {
    let mut folded = BTreeMap::new();
    for spec in specs {
        let values: Vec<f64> =
            samples.iter().filter_map(|s| s.figures.get(spec.name).copied()).collect();
        if values.is_empty() {
            continue;
        }
        let sum: f64 = values.iter().sum();
        let value = match spec.fold {
            Fold::Mean => sum / values.len() as f64,
            Fold::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Fold::Sum => sum,
            Fold::PerOperation => sum / operations.max(1) as f64,
        };
        folded.insert(spec.name.to_owned(), value);
    }
    fold_evidence(samples, &mut folded);
    let checked = samples.iter().filter_map(|s| s.integrity.clone()).reduce(Integrity::and);
    if let Some(share) = checked.and_then(|integrity| integrity.share_at_most()) {
        folded.insert("broken_share_at_most".to_owned(), share);
    }
    folded
}

/// What the application told of itself, as means.
fn fold_evidence(samples: &[&Sample], folded: &mut BTreeMap<String, f64>) {
    let told = |sample: &&Sample| {
        let figures = sample.figures.clone().into_iter();
        figures.filter(|(name, _)| name.starts_with(EVIDENCE_PREFIX))
    };
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for (name, figure) in samples.iter().flat_map(told) {
        let sum = sums.entry(name).or_default();
        *sum = (sum.0 + figure, sum.1 + 1.0);
    }
    folded.extend(sums.into_iter().map(|(name, (sum, times))| (name, sum / times)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_folds_in_its_own_way() {
        let spec = |name, fold| FigureSpec { name, about: "", column: "", fold };
        let specs = [
            spec("mean", Fold::Mean),
            spec("max", Fold::Max),
            spec("sum", Fold::Sum),
            spec("per_op", Fold::PerOperation),
            spec("absent", Fold::Sum),
        ];
        let sample = |value: f64| Sample {
            figures: ["mean", "max", "sum", "per_op"].map(|n| (n.to_owned(), value)).into(),
            ..Sample::default()
        };
        let (a, b) = (sample(1.0), sample(3.0));
        let folded = fold(&specs, &[&a, &b], 8);
        let expected = [("max", 3.0), ("mean", 2.0), ("per_op", 0.5), ("sum", 4.0)];
        assert_eq!(folded, expected.map(|(n, v)| (n.to_owned(), v)).into());
    }

    #[test]
    fn evidence_is_averaged_over_the_slices_that_have_it() {
        let sample = |figures: &[(&str, f64)]| Sample {
            figures: figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            ..Sample::default()
        };
        let samples = [
            sample(&[("evidence_hits", 3.0), ("hits", 9.0)]),
            sample(&[("evidence_hits", 5.0), ("evidence_late", 1.0)]),
        ];
        let folded = fold(&[], &samples.iter().collect::<Vec<_>>(), 1);
        let expected = [("evidence_hits", 4.0), ("evidence_late", 1.0)];
        assert_eq!(folded, expected.map(|(n, v)| (n.to_owned(), v)).into());
    }
}
