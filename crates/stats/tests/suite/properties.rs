//! What holds of every sequence, whatever is pushed.

#![allow(clippy::unwrap_used)]

use iotoll_stats::{Decision, Interval, Sequence, Settings};
use proptest::collection::vec;
use proptest::prelude::*;

fn fed(threshold: f64, log_ratios: &[f64]) -> Sequence {
    let mut sequence = Sequence::new(Settings { threshold, error_rate: 0.05 });
    for &log_ratio in log_ratios {
        sequence.push(log_ratio).unwrap();
    }
    sequence
}

fn swapped(decision: Decision) -> Decision {
    match decision {
        Decision::Greater => Decision::Less,
        Decision::Less => Decision::Greater,
        same => same,
    }
}

fn near(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a - b).abs() < 1e-9
}

/// Series from calm to wild, about a center, with ties and repeats.
fn series() -> impl Strategy<Value = Vec<f64>> {
    let value = prop_oneof![
        8 => -1.0..1.0,
        1 => Just(0.0),
        1 => prop_oneof![Just(-700.0), Just(700.0), -20.0..20.0],
    ];
    (vec(value, 0..80), -0.3..0.3, prop_oneof![Just(1.0), Just(0.05), Just(0.0)])
        .prop_map(|(noise, center, size)| noise.iter().map(|x| center + size * x).collect())
}

proptest! {
    // Failures are put into a test of their own rather than into a file.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_estimate_lies_between_the_bounds(series in series(), threshold in 0.0..0.2) {
        let mut sequence = fed(threshold, &[]);
        for x in series {
            sequence.push(x).unwrap();
            let Interval { estimate, low, high } = sequence.interval();
            prop_assert!(estimate.is_finite());
            prop_assert!(low <= estimate && estimate <= high, "{low} {estimate} {high}");
        }
    }

    #[test]
    fn swapping_the_arms_mirrors_everything(series in series(), threshold in 0.0..0.2) {
        let mirrored: Vec<f64> = series.iter().map(|x| -x).collect();
        let (one, other) = (fed(threshold, &series), fed(threshold, &mirrored));
        prop_assert_eq!(one.decision(), swapped(other.decision()));
        prop_assert_eq!(one.decided_at(), other.decided_at());
        prop_assert_eq!(one.is_contradicted(), other.is_contradicted());
        let (one, other) = (one.interval(), other.interval());
        let mirrored = Interval { estimate: -other.estimate, low: -other.high, high: -other.low };
        prop_assert_eq!(one, mirrored);
    }

    #[test]
    fn the_decision_is_what_the_interval_says(series in series(), threshold in 0.0..0.2) {
        let mut sequence = fed(threshold, &[]);
        let edge = threshold.ln_1p();
        for x in series {
            sequence.push(x).unwrap();
            if sequence.decided_at().is_some_and(|blocks| blocks < sequence.blocks()) {
                break;
            }
            let Interval { low, high, .. } = sequence.interval_at(0.05);
            match sequence.decision() {
                Decision::Greater => prop_assert!(low >= edge),
                Decision::Less => prop_assert!(high <= -edge),
                Decision::Within => prop_assert!(-edge <= low && high <= edge),
                Decision::Open => {
                    prop_assert!(low < edge && high > -edge);
                    prop_assert!(low < -edge || high > edge);
                }
            }
        }
    }

    /// Without worth there is no yardstick but for blocks that all lie beyond
    /// twofold, so that noise and difference may both be ten times as large
    /// without a change.
    #[test]
    fn the_scale_does_not_matter(mut noise in vec(-0.09..0.1, 0..80), factor in 0.1..1.0) {
        noise.insert(0, 0.01);
        let scaled: Vec<f64> = noise.iter().map(|x| x * factor).collect();
        let (one, other) = (fed(0.0, &noise), fed(0.0, &scaled));
        prop_assert_eq!(one.decision(), other.decision());
        prop_assert_eq!(one.decided_at(), other.decided_at());
        prop_assert!(near(one.interval().low * factor, other.interval().low), "{} {}", one.interval().low * factor, other.interval().low);
        prop_assert!(near(one.interval().high * factor, other.interval().high));
    }

    /// And what is shown never contradicts it, whatever comes.
    #[test]
    fn what_is_decided_stays(later in vec(-1e6..1e6, 1..20), threshold in 0.0..0.06) {
        let mut sequence = fed(threshold, &[0.11, 0.13, 0.12, 0.10, 0.14].repeat(10));
        prop_assert_eq!(sequence.decision(), Decision::Greater);
        let decided_at = sequence.decided_at();
        prop_assert!(decided_at.is_some_and(|blocks| blocks < 20));
        for (count, x) in later.into_iter().enumerate() {
            sequence.push(x).unwrap();
            prop_assert_eq!(sequence.blocks(), 51 + count);
            prop_assert_eq!(sequence.decision(), Decision::Greater);
            prop_assert_eq!(sequence.decided_at(), decided_at);
            let Interval { estimate, low, high } = sequence.interval();
            prop_assert!(threshold.ln_1p() <= low && low <= estimate && estimate <= high);
        }
    }

    #[test]
    fn a_smaller_error_rate_widens_the_interval(series in series(), threshold in 0.0..0.2) {
        let sequence = fed(threshold, &series);
        let mut inner = sequence.interval_at(0.2);
        for error_rate in [0.05, 0.01, 0.001] {
            let outer = sequence.interval_at(error_rate);
            prop_assert!(outer.low <= inner.low + 1e-9 && inner.high <= outer.high + 1e-9);
            inner = outer;
        }
    }

    #[test]
    fn one_stall_moves_the_estimate_little(noise in vec(-0.05..0.05, 30), stall in 1.0..700.0) {
        let calm = fed(0.0, &noise);
        prop_assume!(calm.decision() == Decision::Open);
        let mut stalled = noise.clone();
        stalled[20] = stall;
        let moved = fed(0.0, &stalled).interval().estimate - calm.interval().estimate;
        prop_assert!(moved.abs() < 0.05, "{moved}");
    }
}

#[test]
fn before_any_block_nothing_is_known() {
    let Interval { estimate, low, high } = fed(0.05, &[]).interval();
    assert!(estimate == 0.0 && low == f64::NEG_INFINITY && high == f64::INFINITY);
}

#[test]
fn without_noise_few_blocks_decide() {
    for (log_ratio, expected) in [
        (0.0, Decision::Within),
        (0.04, Decision::Within),
        (0.12, Decision::Greater),
        (-0.12, Decision::Less),
        (3.0, Decision::Greater),
    ] {
        let sequence = fed(0.05, &[log_ratio; 20]);
        assert_eq!(sequence.decision(), expected, "{log_ratio}");
        let Interval { estimate, low, high } = sequence.interval();
        assert!(near(estimate, log_ratio) && near(low, log_ratio) && near(high, log_ratio));
    }
}

#[test]
fn what_is_not_finite_is_refused_and_changes_nothing() {
    let mut sequence = fed(0.05, &[0.01, 0.02, 0.0, -0.01, 0.02, 0.01]);
    let before = format!("{sequence:?}");
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let message = sequence.push(bad).unwrap_err().to_string();
        assert!(message.contains("zero or unknown"), "{message}");
    }
    assert_eq!(format!("{sequence:?}"), before);
}
