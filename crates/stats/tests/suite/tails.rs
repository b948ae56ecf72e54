//! How often two arms' 99th percentiles are told apart that are of one distribution,
//! where one arm has more operations than the other.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite tails -- --nocapture`.

#![allow(clippy::print_stdout)]

use iotoll_stats::{Decision, STRETCHES, Settings, Stretches, log_quantile_of_subsample};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal};

const RUNS: u64 = 400;

/// Latencies, by what of them is rare.
#[derive(Clone, Copy, Debug)]
enum Latencies {
    /// Logarithmic normal, of this deviation.
    Even(f64),
    /// This share stalls, and takes so many times as long.
    Stalls(f64, f64),
}

impl Latencies {
    const ALL: [Self; 6] = [
        Self::Even(0.5),
        Self::Even(1.0),
        Self::Stalls(0.007, 50.0),
        Self::Stalls(0.01, 50.0),
        Self::Stalls(0.015, 20.0),
        Self::Stalls(0.02, 50.0),
    ];

    /// So many operations as a sparse histogram, smallest first.
    fn sorted(self, operations: u64, random: &mut ChaCha8Rng) -> Vec<(u64, u64)> {
        let mut values: Vec<u64> = (0..operations).map(|_| self.draw(random)).collect();
        values.sort_unstable();
        values.into_iter().map(|value| (value, 1)).collect()
    }

    fn draw(self, random: &mut ChaCha8Rng) -> u64 {
        let gaussian: f64 = StandardNormal.sample(random);
        let times = match self {
            Self::Even(deviation) => (deviation * gaussian).exp(),
            Self::Stalls(share, times) => {
                let stalls = random.random::<f64>() < share;
                (0.1 * gaussian).exp() * if stalls { times } else { 1.0 }
            }
        };
        (1e6 * times) as u64
    }
}

/// How often equal arms with so many operations in a stretch are told apart: at a threshold of
/// 0, where every decision is false, or called faster or slower at 5%.
fn told_apart(latencies: Latencies, operations: [u64; 2], threshold: f64, as_drawn: bool) -> f64 {
    let hits = (0..RUNS).filter(|&seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut stretches = Stretches::new(Settings { threshold, error_rate: 0.05 });
        (0..STRETCHES).any(|_| {
            let sides = operations.map(|n| latencies.sorted(n, &mut random));
            let fewer = operations[0].min(operations[1]);
            let [base, other] = sides.map(|side| {
                let sample = if as_drawn { fewer } else { side.len() as u64 };
                log_quantile_of_subsample(&side, 0.99, sample, random.random())
            });
            stretches.push(other - base);
            matches!(stretches.decision(), Decision::Greater | Decision::Less)
        })
    });
    hits.count() as f64 / RUNS as f64
}

#[test]
fn more_operations_are_no_other_percentile() {
    println!("Told apart though of one distribution, {RUNS} runs, at a threshold of 0 and 5%:");
    for latencies in Latencies::ALL {
        for operations in [[300, 300], [300, 3000], [3000, 400]] {
            let rates =
                [0.0, 0.05].map(|threshold| told_apart(latencies, operations, threshold, true));
            println!("{latencies:?}, {operations:?}: {:.1?}%", rates.map(|rate| 100.0 * rate));
            // Of 400 runs, 5% and what chance adds in one of a hundred.
            assert!(
                rates[0] <= 0.077 && rates[1] <= 0.05,
                "{latencies:?}, {operations:?}: {rates:?}"
            );
        }
    }
}

/// The positive control: the largest of 8 is not the eleventh largest of 1000.
#[test]
fn percentiles_of_samples_of_different_sizes_are_told_apart() {
    let rate = told_apart(Latencies::Even(0.5), [8, 1000], 0.05, false);
    println!("8 and 1000 operations as they are: {:.1}%", 100.0 * rate);
    assert!(rate > 0.3, "{rate}");
}
