//! How often a trend is found, where there is none and where there is one.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite trend -- --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use iotoll_stats::trend;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal, StudentT};

const RUNS: u64 = 2_000;
const NOISES: [Noise; 5] =
    [Noise::Gaussian, Noise::Tails, Noise::Modes, Noise::Lingering(0.5), Noise::Stalls];

#[derive(Clone, Copy, Debug)]
enum Noise {
    Gaussian,
    /// Student's t with 2 degrees of freedom: no variance.
    Tails,
    /// 3 values in 10 are 35% larger than the others.
    Modes,
    /// AR(1): each value keeps this share of the one before.
    Lingering(f64),
    /// 1 value in 20 is 2.7 times as large.
    Stalls,
}

/// Noise of some 20%, as log values.
fn series(noise: Noise, count: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    let gaussian = |random: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(random) };
    let rarely = |share: f64, random: &mut ChaCha8Rng| random.random::<f64>() < share;
    let mut before = gaussian(random);
    let mut next = || match noise {
        Noise::Gaussian => 0.2 * gaussian(random),
        Noise::Tails => 0.1 * StudentT::new(2.0).unwrap().sample(random),
        Noise::Modes => 0.3 * f64::from(u8::from(rarely(0.3, random))) + 0.02 * gaussian(random),
        Noise::Lingering(kept) => {
            before = kept * before + (1.0 - kept * kept).sqrt() * gaussian(random);
            0.2 * before
        }
        Noise::Stalls => f64::from(u8::from(rarely(0.05, random))) + 0.02 * gaussian(random),
    };
    (0..count).map(|_| next()).collect()
}

/// How often a trend is found in a series that changes by `change` over its whole length.
fn found(noise: Noise, count: usize, change: f64, level: f64, uneven: bool) -> f64 {
    let hits = (0..RUNS).filter(|&seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut position = 0.0;
        let points: Vec<(f64, f64)> = series(noise, count, &mut random)
            .into_iter()
            .map(|value| {
                position += if uneven { f64::from(random.random_range(1..9_u8)) } else { 1.0 };
                (position, value)
            })
            .collect();
        let last = points[count - 1].0;
        let points: Vec<_> = points.iter().map(|p| (p.0, p.1 + change * p.0 / last)).collect();
        trend(&points, level).is_some()
    });
    hits.count() as f64 / RUNS as f64
}

#[test]
fn noise_is_seldom_taken_for_a_trend() {
    const LENGTHS: [usize; 6] = [8, 10, 20, 40, 100, 200];
    println!("Trends found where there is none, {RUNS} runs, by points: {LENGTHS:?}");
    for level in [0.05, 0.01] {
        for noise in NOISES {
            // Every other length has its points at uneven distances.
            let rates = LENGTHS.map(|n| found(noise, n, 0.0, level, n % 20 == 0));
            println!("{level} {noise:?}: {rates:?}");
            assert!(rates.iter().all(|rate| *rate <= level), "{noise:?} at {level}: {rates:?}");
        }
    }
}

#[test]
fn a_drift_is_found() {
    println!("Trends found, {RUNS} runs, at 5% and at 1%");
    for (change, count) in [(2.0_f64, 10), (2.0, 20), (2.0, 40), (1.3, 40), (1.2, 100)] {
        for noise in NOISES {
            let rates = [0.05, 0.01].map(|level| found(noise, count, change.ln(), level, false));
            println!("x{change} over {count}, {noise:?}: {rates:?}");
            if matches!(noise, Noise::Gaussian | Noise::Tails) && (change, count) == (2.0, 40) {
                assert!(rates[1] > 0.95, "{noise:?}: {rates:?}");
            }
        }
    }
}
