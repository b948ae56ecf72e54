//! What holds of every comparison, whatever its stretches give.

use iotoll_stats::{Decision, Interval, Settings, Stretches, trimmed_mean};
use proptest::collection::vec;
use proptest::prelude::*;

fn of(threshold: f64, means: impl IntoIterator<Item = f64>) -> Stretches {
    let mut stretches = Stretches::new(Settings { threshold, error_rate: 0.05 });
    means.into_iter().for_each(|mean| stretches.push(mean));
    stretches
}

fn swapped(decision: Decision) -> Decision {
    match decision {
        Decision::Greater => Decision::Less,
        Decision::Less => Decision::Greater,
        same => same,
    }
}

proptest! {
    #[test]
    fn swapping_the_arms_mirrors_everything(means in vec(-0.3..0.3, 0..14)) {
        let (one, other) =
            (of(0.05, means.iter().copied()), of(0.05, means.iter().map(|mean| -mean)));
        prop_assert_eq!(one.decision(), swapped(other.decision()));
        prop_assert_eq!(one.decided_after(), other.decided_after());
        let (one, other) = (one.interval(), other.interval());
        let is_near = (one.low + other.high).abs() < 1e-9;
        prop_assert!(is_near || one.low.is_infinite() && other.high.is_infinite());
    }

    #[test]
    fn the_decision_is_what_the_interval_says(
        means in vec(-0.3..0.3, 0..14),
        threshold in 0.0..0.2,
    ) {
        let stretches = of(threshold, means.iter().copied());
        let (Interval { estimate, low, high }, edge) = (stretches.interval(), threshold.ln_1p());
        prop_assert!(low <= estimate && estimate <= high);
        match stretches.decision() {
            Decision::Greater => prop_assert!(low > edge),
            Decision::Less => prop_assert!(high < -edge),
            Decision::Within => prop_assert!(low > -edge && high < edge),
            Decision::Open => prop_assert!(
                means.len() < 5 || low <= edge && high >= -edge && (low <= -edge || high >= edge)
            ),
        }
        prop_assert!(stretches.looked_at() <= means.len().min(10));
    }

    #[test]
    fn a_smaller_error_rate_gives_a_wider_interval(means in vec(-1.0..1.0, 2..12)) {
        let stretches = of(0.05, means.iter().copied());
        let width = |rate: f64| {
            let interval = stretches.interval_at(rate);
            interval.high - interval.low
        };
        prop_assert!(width(0.01) >= width(0.05));
    }

    #[test]
    fn a_trimmed_mean_lies_within_its_values(values in vec(-1e9..1e9, 1..60)) {
        let found = trimmed_mean(&values).unwrap();
        let (low, high) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        prop_assert!(low <= found && found <= high);
        let moved = trimmed_mean(&values.iter().map(|value| value + 7.0).collect::<Vec<_>>());
        prop_assert!((moved.unwrap() - found - 7.0).abs() < 1e-3);
    }
}
