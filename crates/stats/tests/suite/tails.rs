//! How often two arms' 99th percentiles are told apart that are of one distribution,
//! where one arm has more operations than the other.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite tails -- --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use iotoll_stats::{Decision, Sequence, Settings, log_quantile_of_sample};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, LogNormal};

const RUNS: u64 = 500;
/// Log ratios that are looked at, each of so many operations of either arm at the least.
const GATHERINGS: usize = 40;
const ENOUGH: u64 = 300;

/// Operations as a sparse histogram, smallest first.
fn sorted(
    operations: u64,
    distribution: LogNormal<f64>,
    random: &mut ChaCha8Rng,
) -> Vec<(u64, u64)> {
    let mut values: Vec<u64> =
        (0..operations).map(|_| distribution.sample(random) as u64).collect();
    values.sort_unstable();
    values.into_iter().map(|value| (value, 1)).collect()
}

/// The natural logarithm of the nearest-rank 99th percentile.
fn nearest_rank(values: &[(u64, u64)]) -> f64 {
    let rank = (0.99 * values.len() as f64).ceil() as usize;
    (values[rank - 1].0 as f64).ln()
}

/// How often equal arms with so many operations in a slice are told apart; at no worth,
/// every verdict is false.
fn told_apart(slice: [u64; 2], sigma: f64, log_ratio: impl Fn([&[(u64, u64)]; 2]) -> f64) -> f64 {
    let latencies = LogNormal::new(1e6_f64.ln(), sigma).unwrap();
    let slices = ENOUGH.div_ceil(slice[0].min(slice[1]));
    let hits = (0..RUNS).filter(|&seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut sequence = Sequence::new(Settings { threshold: 0.0, error_rate: 0.05 });
        for _ in 0..GATHERINGS {
            let [base, other] = slice.map(|n| sorted(n * slices, latencies, &mut random));
            sequence.push(log_ratio([&base, &other])).unwrap();
        }
        sequence.decision() != Decision::Open
    });
    hits.count() as f64 / RUNS as f64
}

#[test]
fn more_operations_are_no_other_percentile() {
    println!("Told apart though of one distribution, {GATHERINGS} log ratios, {RUNS} runs:");
    for (slice, sigma) in [
        ([16, 100], 0.5),
        ([100, 16], 1.0),
        ([65, 100], 1.0),
        ([500, 1000], 0.5),
        ([300, 3000], 1.0),
    ] {
        let rate = told_apart(slice, sigma, |sides| {
            let fewer = sides.map(<[_]>::len).into_iter().min().unwrap() as u64;
            let [base, other] = sides.map(|side| log_quantile_of_sample(side, 0.99, fewer));
            other - base
        });
        println!("{slice:?}, sigma {sigma}: {:.1}%", 100.0 * rate);
        assert!(rate <= 0.05, "{slice:?}, sigma {sigma}: {rate}");
    }
}

/// The positive control: the largest of 16 is not the second largest of 100.
#[test]
fn the_percentiles_of_single_slices_are_told_apart() {
    let latencies = LogNormal::new(1e6_f64.ln(), 0.5).unwrap();
    let slower = (0..RUNS).filter(|&seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut sequence = Sequence::new(Settings { threshold: 0.05, error_rate: 0.05 });
        for _ in 0..GATHERINGS {
            let [base, other] = [16, 100].map(|n| sorted(n, latencies, &mut random));
            sequence.push(nearest_rank(&other) - nearest_rank(&base)).unwrap();
        }
        sequence.decision() == Decision::Greater
    });
    let rate = slower.count() as f64 / RUNS as f64;
    println!("single slices of 16 and 100: {:.1}% slower", 100.0 * rate);
    assert!(rate > 0.3, "{rate}");
}
