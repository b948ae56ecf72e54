//! How often a change of level is found in saved runs, and how often one is where there is none.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite change_points -- --ignored --nocapture`.

#![allow(clippy::print_stdout)]

use iotoll_stats::change_points;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal, StudentT};

const RUNS: usize = 60;
/// What runs of the same vary by.
const NOISE: f64 = 0.02;
/// A change is found where one is named so near.
const NEAR: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Noise {
    Gaussian,
    /// Student's t with 3 degrees of freedom, of the same standard deviation.
    Tails,
}

/// Of so many series with one step of this size at a random place, in how many it is found, and
/// how many changes are named per series that are none.
fn found(step: f64, noise: Noise, series: u64) -> [f64; 2] {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..series {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let begins = 10 + seed as usize % (RUNS - 20);
        let mut value = |run: usize| -> f64 {
            let drawn: f64 = match noise {
                Noise::Gaussian => StandardNormal.sample(&mut random),
                Noise::Tails => {
                    StudentT::new(3.0).map_or(0.0, |t| t.sample(&mut random) / 3_f64.sqrt())
                }
            };
            NOISE * drawn + if run >= begins { step.ln_1p() } else { 0.0 }
        };
        let values: Vec<f64> = (0..RUNS).map(&mut value).collect();
        let named = change_points(&values);
        let is_right = |at: usize| step > 0.0 && at.abs_diff(begins) <= NEAR;
        right += usize::from(named.iter().any(|change| is_right(change.at)));
        wrong += named.iter().filter(|change| !is_right(change.at)).count();
    }
    [right, wrong].map(|count| count as f64 / series as f64)
}

#[test]
fn steps_of_five_percent_are_found_and_hardly_any_where_there_is_none() {
    let [right, wrong] = found(0.05, Noise::Gaussian, 60);
    assert!(right >= 0.9 && wrong <= 0.1, "{right} {wrong}");
    let [_, falsely] = found(0.0, Noise::Gaussian, 200);
    assert!(falsely <= 0.03, "{falsely}");
}

#[test]
#[ignore = "prints the table in docs/statistics-appendix.md, in a minute"]
fn how_often_steps_are_found() {
    println!("60 runs of 2% noise with one step: found within three runs, others named per series");
    for noise in [Noise::Gaussian, Noise::Tails] {
        for step in [0.0, 0.03, 0.05, 0.1] {
            let [right, wrong] = found(step, noise, 1_000);
            let noise = format!("{noise:?}");
            println!("{noise:<10} {:>4.0}% {:>7.1}% {wrong:>7.3}", step * 100.0, right * 100.0);
        }
    }
}
