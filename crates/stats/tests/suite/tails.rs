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
///
/// All thresholds decide the same runs, since drawing them takes the time.
fn told_apart<const N: usize>(
    latencies: Latencies,
    operations: [u64; 2],
    thresholds: [f64; N],
    as_drawn: bool,
) -> [f64; N] {
    let mut hits = [0; N];
    for seed in 0..RUNS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut all =
            thresholds.map(|threshold| Stretches::new(Settings { threshold, error_rate: 0.05 }));
        let mut are_told_apart = [false; N];
        for _ in 0..STRETCHES {
            let sides = operations.map(|n| latencies.sorted(n, &mut random));
            let fewer = operations[0].min(operations[1]);
            let [base, other] = sides.map(|side| {
                let sample = if as_drawn { fewer } else { side.len() as u64 };
                log_quantile_of_subsample(&side, 0.99, sample, random.random())
            });
            for (stretches, is_told) in all.iter_mut().zip(&mut are_told_apart) {
                stretches.push(other - base);
                *is_told |= matches!(stretches.decision(), Decision::Greater | Decision::Less);
            }
            if are_told_apart.iter().all(|is_told| *is_told) {
                break;
            }
        }
        for (hits, is_told) in hits.iter_mut().zip(are_told_apart) {
            *hits += u64::from(is_told);
        }
    }
    hits.map(|hits| hits as f64 / RUNS as f64)
}

#[test]
fn more_operations_are_no_other_percentile() {
    println!("Told apart though of one distribution, {RUNS} runs, at a threshold of 0 and 5%:");
    for latencies in Latencies::ALL {
        for operations in [[300, 300], [300, 3000], [3000, 400]] {
            let rates = told_apart(latencies, operations, [0.0, 0.05], true);
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
    let [rate] = told_apart(Latencies::Even(0.5), [8, 1000], [0.05], false);
    println!("8 and 1000 operations as they are: {:.1}%", 100.0 * rate);
    assert!(rate > 0.3, "{rate}");
}
