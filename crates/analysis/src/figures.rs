//! From the slices' figures to their arm's.

use std::collections::BTreeMap;

use model::description::FigureDescription;
use model::figure::{Fold, Unit};
use model::slice::Slice;

use crate::indexed::Indexed;

/// Each figure over all slices that have it; one that none has is left out.
pub(crate) fn fold(
    run: &Indexed<'_>,
    arm: usize,
    figures: &[FigureDescription],
) -> BTreeMap<String, f64> {
    let of = |figure: &FigureDescription| {
        folded(run.slices_of(arm), figure).map(|value| (figure.name.clone(), value))
    };
    figures.iter().filter_map(of).collect()
}

/// A figure over the slices that have it; nothing where none does.
pub(crate) fn folded<'a>(
    slices: impl Iterator<Item = &'a Slice> + Clone,
    figure: &FigureDescription,
) -> Option<f64> {
    let values: Vec<f64> = slices.clone().filter_map(|slice| slice.figure(&figure.name)).collect();
    let sum: f64 = values.iter().sum();
    let value = match figure.fold {
        _ if values.is_empty() => return None,
        // Of slices of one size, the rate of all together.
        Fold::Mean if figure.unit == Unit::PerSecond => {
            values.len() as f64 / values.iter().map(|rate| 1.0 / rate).sum::<f64>()
        }
        Fold::Mean => sum / values.len() as f64,
        Fold::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Fold::Sum => sum,
        Fold::PerOperation => sum / slices.map(|slice| slice.operations).sum::<u64>().max(1) as f64,
    };
    Some(value)
}

/// What the application told of itself, as means over the slices that have it.
pub(crate) fn evidence(run: &Indexed<'_>, arm: usize) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&String, (f64, f64)> = BTreeMap::new();
    for (name, figure) in run.slices_of(arm).flat_map(|slice| &slice.outcome.evidence) {
        let sum = sums.entry(name).or_default();
        *sum = (sum.0 + figure, sum.1 + 1.0);
    }
    sums.into_iter().map(|(name, (sum, times))| (name.clone(), sum / times)).collect()
}

#[cfg(test)]
mod tests {
    use model::figure::{Better, written_on_device};
    use model::slice::{Outcome, Slice};
    use model::spent::DeviceTraffic;

    use super::*;
    use crate::testing;

    fn slice(figures: &[(&str, f64)], evidence: &[(&str, f64)]) -> Slice {
        let map = |pairs: &[(&str, f64)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let outcome =
            Outcome { figures: map(figures), evidence: map(evidence), ..Outcome::default() };
        Slice { operations: 4, outcome, ..testing::slice(0, 0) }
    }

    #[test]
    fn each_figure_folds_in_its_own_way() {
        let figure = |name: &str, fold| FigureDescription {
            name: name.to_owned(),
            title: String::new(),
            about: String::new(),
            unit: Unit::Ratio,
            better: Better::Neither,
            fold,
            shown: true,
        };
        let figures = [
            figure("mean", Fold::Mean),
            figure("max", Fold::Max),
            figure("sum", Fold::Sum),
            figure("per_op", Fold::PerOperation),
            figure("absent", Fold::Sum),
        ];
        let slice = |value: f64| slice(&["mean", "max", "sum", "per_op"].map(|n| (n, value)), &[]);
        let run = testing::run(1, vec![slice(1.0), slice(3.0)]);
        let expected = [("max", 3.0), ("mean", 2.0), ("per_op", 0.5), ("sum", 4.0)];
        assert_eq!(
            fold(&Indexed::of(&run), 0, &figures),
            expected.map(|(name, value)| (name.to_owned(), value)).into()
        );
    }

    #[test]
    fn what_devices_wrote_is_a_figure_of_whoever_lists_it() {
        let mut known = slice(&[], &[]);
        known.spent.device = Some(DeviceTraffic { written_bytes: 80, ..DeviceTraffic::default() });
        let run = testing::run(1, vec![known.clone(), known]);
        let listed = [written_on_device()];
        assert_eq!(
            fold(&Indexed::of(&run), 0, &listed),
            [("device_written_bytes".to_owned(), 20.0)].into()
        );
        let unknown = testing::run(1, vec![slice(&[], &[])]);
        assert_eq!(fold(&Indexed::of(&unknown), 0, &listed), BTreeMap::new());
    }

    #[test]
    fn evidence_is_averaged_over_the_slices_that_have_it() {
        let slices = vec![
            slice(&[("hits", 9.0)], &[("hits", 3.0)]),
            slice(&[], &[("hits", 5.0), ("late", 1.0)]),
        ];
        let expected = [("hits", 4.0), ("late", 1.0)];
        assert_eq!(
            evidence(&Indexed::of(&testing::run(1, slices)), 0),
            expected.map(|(name, value)| (name.to_owned(), value)).into()
        );
    }
}
