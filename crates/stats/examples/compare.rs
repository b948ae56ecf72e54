//! Compares two ways of doing something that are timed in turns: here sorting by two methods.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use iotoll_stats::{Decision, STRETCHES, Settings, Stretches, is_look, trimmed_mean};

/// Of so many rounds each stretch gives a mean.
const ROUNDS: usize = 8;

fn main() {
    let mut comparison = Stretches::new(Settings { threshold: 0.05, error_rate: 0.05 });
    for _ in 0..STRETCHES {
        // What is sorted is new in each stretch: chance that stays the same would be taken for
        // a difference.
        let numbers: Vec<u64> =
            (1..20_000_u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let ratios: Vec<f64> = (0..ROUNDS).map(|_| log_ratio(&numbers)).collect();
        comparison.push(trimmed_mean(&ratios).unwrap_or(f64::NAN));
        if is_look(comparison.count()) && comparison.decision() != Decision::Open {
            break;
        }
    }
    let (interval, count) = (comparison.interval(), comparison.count());
    let [low, high] = [interval.low, interval.high].map(f64::exp);
    println!(
        "{:?} after {count} stretches: {low:.2} to {high:.2} times as long",
        comparison.decision()
    );
}

/// How long the second takes by the first, as a logarithm.
fn log_ratio(numbers: &[u64]) -> f64 {
    let unstable = timed(numbers, <[u64]>::sort_unstable);
    let stable = timed(numbers, <[u64]>::sort);
    (stable / unstable).ln()
}

fn timed(numbers: &[u64], sort: impl Fn(&mut [u64])) -> f64 {
    let mut numbers = numbers.to_vec();
    let began = Instant::now();
    sort(black_box(&mut numbers));
    began.elapsed().as_secs_f64()
}
