//! Where percentiles lie, and whether they are known as closely as was asked.

use model::load::{Bounds, PercentileIntervals, Subsamples};
use stats::{LOOK_SHARE, Sparse, percentile_interval};

/// The probability with which an interval may miss the true percentile.
const ERROR_RATE: f64 = 0.05;

/// The intervals of a step that ends by itself where `looked_at`. `None` where there are too
/// few requests for any.
pub(crate) fn intervals(subsamples: &Subsamples, looked_at: bool) -> Option<PercentileIntervals> {
    let error_rate = ERROR_RATE * if looked_at { LOOK_SHARE } else { 1.0 };
    let parts = sparse(subsamples);
    let at = |q: f64| {
        let found = percentile_interval(&parts, q, error_rate)?;
        Some(Bounds { low: found.low / 1e6, high: found.high / 1e6 })
    };
    let all = PercentileIntervals {
        of: subsamples.of,
        confidence: 1.0 - ERROR_RATE,
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p99_ms: at(0.99),
        p999_ms: at(0.999),
    };
    all.all().iter().any(Option::is_some).then_some(all)
}

/// Whether the median and the 90th and 99th percentile are known this closely. The 99.9th
/// would take ten times as many requests as the 99th.
pub(crate) fn are_narrow(intervals: Option<&PercentileIntervals>, half_width: f64) -> bool {
    let is_narrow = |bounds: Option<Bounds>| bounds.is_some_and(|b| b.half_width() <= half_width);
    intervals.is_some_and(|all| [all.p50_ms, all.p90_ms, all.p99_ms].into_iter().all(is_narrow))
}

/// The buckets of each subsample.
pub(super) fn sparse(subsamples: &Subsamples) -> Vec<Sparse<'_>> {
    subsamples.latencies.iter().map(|part| part.buckets.as_slice()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::load::Sampled;
    use model::slice::Latencies;

    fn subsamples(size: u64) -> Subsamples {
        let buckets = (0..size).map(|i| (1_000_000 + i * 100_000 / size, 1)).collect();
        let part = Latencies { buckets, max: 1_100_000 };
        Subsamples { of: Sampled::Reply, size, latencies: vec![part; 40] }
    }

    #[test]
    fn a_percentile_that_few_are_slower_than_has_no_interval() {
        assert_eq!(intervals(&Subsamples::default(), false), None);
        let few = intervals(&subsamples(50), false).unwrap_or_else(|| panic!("none"));
        assert_eq!(few.all().map(|b| b.is_some()), [true, true, false, false]);
        assert_eq!(few.of, Sampled::Reply);
        let enough = intervals(&subsamples(300), false).unwrap_or_else(|| panic!("none"));
        assert_eq!(enough.all().map(|b| b.is_some()), [true, true, true, false]);
        assert!(enough.p50_ms.is_some_and(|b| b.low < 1.05 && b.high > 1.05), "{enough:?}");
    }

    #[test]
    fn what_is_looked_at_is_wider_and_narrow_only_where_all_are() {
        let [once, often] = [false, true].map(|looked_at| intervals(&subsamples(300), looked_at));
        let width =
            |of: Option<PercentileIntervals>| of.and_then(|all| all.p50_ms).map(|b| b.half_width());
        assert!(width(often) > width(once), "{often:?}");
        assert!(are_narrow(once.as_ref(), 0.05) && !are_narrow(once.as_ref(), 0.001));
        assert!(!are_narrow(intervals(&subsamples(50), false).as_ref(), 0.05), "no p99");
        assert!(!are_narrow(None, 0.5));
    }
}
