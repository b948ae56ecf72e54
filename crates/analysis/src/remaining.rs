//! How much longer an open comparison would have to be measured.
//!
//! An interval narrows with the square root of what was measured. If the ratio stays where
//! it is, the comparison is decided once the interval's half width is less than the
//! distance from the ratio to the nearest edge of what is worth it. What other runs add to
//! the interval stays as it is, however long this one is.

use model::analysis::{Comparison, OtherRuns, Verdict};

/// What would take longer than this is too close to call.
const LONGEST_S: f64 = 24.0 * 3600.0;

/// The further seconds, after those that it took so far. The doubt stays in the interval. Nothing where
/// it is decided, too close to call, or nothing is known.
pub(crate) fn seconds(comparison: &Comparison, doubt: f64, so_far_s: f64) -> Option<f64> {
    let Comparison { ratio, ratio_low, ratio_high, other_runs, threshold, verdict, .. } =
        comparison;
    if *verdict != Verdict::Unclear {
        return None;
    }
    let [low, ratio, high] = [(*ratio_low)?, (*ratio)?, (*ratio_high)?].map(f64::ln);
    let half_width = (high - low) / 2.0 - doubt;
    let distance = (ratio.abs() - threshold.ln_1p()).abs() - doubt;
    let of_this_run = match other_runs {
        Some(OtherRuns { this_run_low, this_run_high, .. }) => {
            ((*this_run_high)? / (*this_run_low)?).ln() / 2.0
        }
        None => half_width,
    };
    let of_others = (half_width.powi(2) - of_this_run.powi(2)).max(0.0);
    let left = distance.powi(2) - of_others;
    if distance <= 0.0 || left <= 0.0 {
        return None;
    }
    let times = of_this_run.powi(2) / left;
    let more_s = so_far_s * (times - 1.0).max(0.1);
    (more_s <= LONGEST_S).then_some(more_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn open(ratio: f64, low: f64, high: f64) -> Comparison {
        let (ratio, ratio_low, ratio_high) = (Some(ratio), Some(low), Some(high));
        let comparison = testing::comparison(Verdict::Unclear);
        Comparison { ratio, ratio_low, ratio_high, threshold: 0.05, ..comparison }
    }

    #[test]
    fn half_as_wide_an_interval_takes_four_times_as_long() {
        // From 1.2 to the edge it is 0.134, and the half width is twice that.
        let half_width = 2.0 * (1.2_f64.ln() - 1.05_f64.ln());
        let times = half_width.exp();
        let found = seconds(&open(1.2, 1.2 / times, 1.2 * times), 0.0, 60.0);
        assert!(found.is_some_and(|more_s| (more_s - 180.0).abs() < 1.0), "{found:?}");
    }

    #[test]
    fn a_longer_run_does_not_narrow_what_other_runs_add() {
        let half_width: f64 = 0.13;
        let comparison = |of_this_run: f64| Comparison {
            other_runs: Some(OtherRuns {
                this_run_low: Some(1.15 / of_this_run.exp()),
                this_run_high: Some(1.15 * of_this_run.exp()),
                runs_vary_by: 0.03,
                learned_from: 5,
                unlike_saved: None,
            }),
            ..open(1.15, 1.15 / half_width.exp(), 1.15 * half_width.exp())
        };
        // The edge is 0.091 away; of 0.13, what other runs add is 0.12, or 0.05.
        assert_eq!(seconds(&comparison(0.05), 0.0, 60.0), None);
        assert!(seconds(&comparison(0.12), 0.0, 60.0).is_some());
    }

    #[test]
    fn nothing_is_promised_of_what_is_decided_unbounded_or_on_the_edge() {
        assert_eq!(seconds(&open(1.05, 0.9, 1.2), 0.0, 60.0), None);
        let unbounded = Comparison { ratio_low: None, ..open(1.2, 1.0, 1.4) };
        assert_eq!(seconds(&unbounded, 0.0, 60.0), None);
        let decided = Comparison { verdict: Verdict::Slower, ..open(1.2, 1.1, 1.3) };
        assert_eq!(seconds(&decided, 0.0, 60.0), None);
    }
}
