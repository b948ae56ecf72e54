//! How often two modes are found where there are two, and where there is one.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite modes -- --ignored --nocapture`.

#![allow(clippy::print_stdout)]

use iotoll_stats::modes;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, Exp1, StandardNormal, StudentT};

/// Logarithms of the times of an arm's slices with one mode.
#[derive(Clone, Copy, Debug)]
enum One {
    Gaussian(f64),
    /// Student's t with so many degrees of freedom, times 10%.
    Tails(f64),
    /// An exponential excess of this mean.
    Skewed(f64),
    /// As likely anywhere in a range this wide.
    Even(f64),
    /// This share of the slices stalls, by an exponential logarithm of mean 1; noise of 5%.
    Stalls(f64),
    /// From 0 to this over the run, and noise of 5%.
    Drift(f64),
    /// Noise of 20% that keeps 95% of what it was.
    Lingering,
}

const ONE: [One; 11] = [
    One::Gaussian(0.05),
    One::Gaussian(0.2),
    One::Gaussian(0.8),
    One::Tails(3.0),
    One::Tails(1.0),
    One::Skewed(0.3),
    One::Even(1.0),
    One::Stalls(0.05),
    One::Stalls(0.1),
    One::Drift(0.5),
    One::Lingering,
];

/// The share of the slices in the first mode, how many times longer the second takes, and the
/// noise of both.
const TWO: [(f64, f64, f64); 6] = [
    (0.6, 4.3, 0.1),
    (0.6, 4.3, 0.2),
    (0.5, 1.5, 0.05),
    (0.7, 2.0, 0.1),
    (0.3, 3.0, 0.15),
    (0.5, 1.35, 0.03),
];
const SLICES: [usize; 3] = [50, 100, 400];

fn gaussian(random: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(random)
}

fn excess(random: &mut ChaCha8Rng) -> f64 {
    Exp1.sample(random)
}

impl One {
    fn series(self, slices: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
        let mut state = 0.2 * gaussian(random);
        let draw = |slice: usize| match self {
            Self::Gaussian(by) => by * gaussian(random),
            Self::Tails(degrees) => StudentT::new(degrees).map_or(0.0, |t| 0.1 * t.sample(random)),
            Self::Skewed(by) => by * excess(random),
            Self::Even(wide) => wide * random.random::<f64>(),
            Self::Stalls(share) => {
                let stall = if random.random::<f64>() < share { excess(random) } else { 0.0 };
                0.05 * gaussian(random) + stall
            }
            Self::Drift(by) => by * slice as f64 / slices as f64 + 0.05 * gaussian(random),
            Self::Lingering => {
                state = 0.95 * state + 0.2 * (1.0_f64 - 0.95 * 0.95).sqrt() * gaussian(random);
                state
            }
        };
        (0..slices).map(draw).collect()
    }
}

/// In which share of so many series of one mode two are found.
fn falsely(one: One, slices: usize, series: u64) -> f64 {
    let found = |seed: &u64| {
        let mut random = ChaCha8Rng::seed_from_u64(*seed);
        modes(&one.series(slices, &mut random)).is_some()
    };
    (0..series).filter(found).count() as f64 / series as f64
}

/// In which share of so many series of two modes both are found, where they are.
fn rightly((share, times, noise): (f64, f64, f64), slices: usize, series: u64) -> f64 {
    let found = |seed: &u64| {
        let mut random = ChaCha8Rng::seed_from_u64(*seed);
        let mut draw = |_| {
            let slow = random.random::<f64>() >= share;
            noise * gaussian(&mut random) + if slow { times.ln() } else { 0.0 }
        };
        let logs: Vec<f64> = (0..slices).map(&mut draw).collect();
        modes(&logs).is_some_and(|modes| modes.low.abs() < 0.15 && modes.high > 0.7 * times.ln())
    };
    (0..series).filter(found).count() as f64 / series as f64
}

#[test]
fn two_modes_are_found_and_one_is_not_called_two() {
    for slices in SLICES {
        for one in ONE {
            let share = falsely(one, slices, 200);
            assert!(share <= 0.05, "{one:?}, {slices} slices: {share}");
        }
        for two in TWO {
            let share = rightly(two, slices, 200);
            assert!(share >= 0.9, "{two:?}, {slices} slices: {share}");
        }
    }
}

#[test]
#[ignore = "prints the shares, in a minute"]
fn shares_are_printed() {
    for slices in SLICES {
        for one in ONE {
            println!("{slices:4} slices  {one:?}: {:.1}%", falsely(one, slices, 2000) * 100.0);
        }
        for two in TWO {
            println!("{slices:4} slices  {two:?}: {:.1}%", rightly(two, slices, 2000) * 100.0);
        }
    }
}
