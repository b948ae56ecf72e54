//! What the statistics promise, put to the proof on machines of known truth.
//!
//! All draws are seeded. The whole table is printed by
//! `cargo test -p iotoll-stats --test suite simulation -- --ignored --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod machine;
mod rate;

use iotoll_stats::{
    Decision, Interval, STRETCHES, STRETCHES_MIN, Settings, Stretches, median, trimmed_mean,
};
use machine::Noise;
use rate::Rate;

/// Runs of each kind in the tests, and in the table.
const FEW: u64 = 1_500;
const MANY: u64 = 4_000;
const THRESHOLD: f64 = 0.05;
const ERROR_RATE: f64 = 0.05;

/// The comparison after each stretch of a run of these rounds.
fn stretches(rounds: &[f64], threshold: f64) -> impl Iterator<Item = Stretches> + '_ {
    let mut stretches = Stretches::new(Settings { threshold, error_rate: ERROR_RATE });
    let cut = |stretch: usize| stretch * rounds.len() / STRETCHES;
    (0..STRETCHES).map(move |stretch| {
        stretches.push(trimmed_mean(&rounds[cut(stretch)..cut(stretch + 1)]).unwrap());
        stretches.clone()
    })
}

/// What runs come to.
#[derive(Default)]
struct Outcomes {
    /// That a difference was seen where there is none, at no threshold and at any look.
    any: u64,
    /// That `Greater` or `Less` was decided at any look, and how often which stood at the end.
    differ: u64,
    within: u64,
    open: u64,
    /// Half of the interval at the end, over that of a t interval of all rounds as
    /// independent.
    widths: Vec<f64>,
}

fn outcomes(runs: u64, noise: Noise, count: usize, truth: f64) -> Outcomes {
    let mut all = Outcomes::default();
    for seed in 0..runs {
        let rounds = noise.rounds(count, truth, seed);
        all.any += u64::from(stretches(&rounds, 0.0).any(|s| s.decision() != Decision::Open));
        let decides = |s: Stretches| matches!(s.decision(), Decision::Greater | Decision::Less);
        all.differ += u64::from(stretches(&rounds, THRESHOLD).any(decides));
        let end = stretches(&rounds, THRESHOLD).last().unwrap();
        all.within += u64::from(end.decision() == Decision::Within);
        all.open += u64::from(end.decision() == Decision::Open);
        let Interval { low, high, .. } = end.interval();
        all.widths.push(0.5 * (high - low) / fixed_half_width(&rounds));
    }
    all
}

/// Half of the 95% t interval of all rounds, looked at once.
fn fixed_half_width(rounds: &[f64]) -> f64 {
    let count = rounds.len() as f64;
    let mean = rounds.iter().sum::<f64>() / count;
    let squares: f64 = rounds.iter().map(|round| (round - mean).powi(2)).sum();
    // Student's t at 97.5%, with 49 degrees of freedom or 199.
    let quantile = if count < 100.0 { 2.01 } else { 1.972 };
    quantile * (squares / (count - 1.0) / count).sqrt()
}

#[test]
fn differences_that_matter_are_seldom_claimed_of_equal_arms() {
    for (name, noise) in Noise::PROMISED {
        for count in [50, 200] {
            let outcomes = outcomes(FEW, noise, count, 0.0);
            let rate = Rate { hits: outcomes.differ, runs: FEW };
            assert!(rate.observed() <= ERROR_RATE, "{name}, {count} rounds: {rate}");
        }
    }
}

/// With a difference exactly at the edge of the threshold, every decision is false. That is
/// the hardest case there is; it is promised where rounds are independent.
#[test]
fn looking_three_times_costs_no_more_than_the_error_rate() {
    for noise in [Noise::Gaussian(0.05), Noise::Tails(2.0)] {
        let wrong = |seed| {
            let rounds = noise.rounds(100, THRESHOLD.ln_1p(), seed);
            stretches(&rounds, THRESHOLD).any(|s| s.decision() != Decision::Open)
        };
        let rate = Rate::of(4 * MANY, wrong);
        assert!(rate.observed() <= 1.1 * ERROR_RATE, "{noise:?}: {rate}");
        assert!(noise != Noise::Gaussian(0.05) || rate.observed() > 0.8 * ERROR_RATE, "{rate}");
    }
}

#[test]
fn the_interval_is_nearly_as_narrow_as_that_of_a_fixed_sample() {
    for count in [50, 200] {
        let mut outcomes = outcomes(FEW, Noise::Gaussian(0.05), count, 0.0);
        let width = median(&mut outcomes.widths);
        assert!(width <= 1.3, "{count} rounds: {width}");
    }
}

#[test]
fn differences_beyond_the_threshold_are_found() {
    for count in [50, 200] {
        let found = |truth: f64| outcomes(FEW, Noise::Gaussian(0.05), count, truth.ln()).differ;
        assert_eq!(found(1.12), FEW, "{count} rounds");
        assert!(found(1.08) * 10 >= FEW * 8, "{count} rounds: {}", found(1.08));
        assert_eq!(outcomes(FEW, Noise::Gaussian(0.1), count, 2_f64.ln()).differ, FEW);
    }
}

/// The positive control: the same rounds, looked at after each with a t interval that takes
/// them as independent, as if the first were enough.
#[test]
fn rounds_taken_as_independent_are_caught() {
    let states = Noise::States { apart: 0.2, stay: 0.1 };
    let wrong = |seed| {
        let rounds = states.rounds(200, 0.0, seed);
        (10..=200).any(|seen| {
            let mean = rounds[..seen].iter().sum::<f64>() / seen as f64;
            mean.abs() - fixed_half_width(&rounds[..seen]) > THRESHOLD.ln_1p()
        })
    };
    let rate = Rate::of(FEW, wrong);
    assert!(rate.observed() > 0.5, "{rate}");
}

#[test]
#[ignore = "prints the table in docs/statistics-appendix.md, in half a minute"]
fn table() {
    let planted = [
        ("true +12%", Noise::Gaussian(0.05), 1.12_f64),
        ("true +8%", Noise::Gaussian(0.05), 1.08),
        ("true ×2", Noise::Gaussian(0.1), 2.0),
    ];
    let equal = Noise::PROMISED.map(|(name, noise)| (name, noise, 1.0));
    for count in [50, 200] {
        println!(
            "\n{count} rounds, {MANY} runs, in percent: a difference at threshold 0 | beyond 5% | \
             same | open | half-width over a fixed sample's"
        );
        for (name, noise, truth) in equal.into_iter().chain(planted) {
            let mut all = outcomes(MANY, noise, count, truth.ln());
            let percent = |hits: u64| 100.0 * hits as f64 / MANY as f64;
            println!(
                "{name:24} {:5.1} | {:5.1} | {:5.1} | {:5.1} | {:.2}",
                percent(all.any),
                percent(all.differ),
                percent(all.within),
                percent(all.open),
                median(&mut all.widths)
            );
        }
    }
    let first = |seed| {
        let rounds = Noise::Gaussian(0.05).rounds(100, 2_f64.ln(), seed);
        let decided = stretches(&rounds, THRESHOLD).find_map(|s| s.decided_after());
        decided == Some(STRETCHES_MIN)
    };
    println!("×2 decided at the first look: {}", Rate::of(MANY, first));
}
