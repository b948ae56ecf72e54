//! What one arm leaves to the next: how often it is found, where there is none and
//! where there is some, and what it does to the verdict on two arms.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite carry_over -- --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod balanced;
mod machine;

use iotoll_stats::{Step, carry_over, median};
use machine::{Machine, Noise, Order};

const LEVEL: f64 = 0.01;

fn steps(
    arms: usize,
    blocks: usize,
    order: Order,
    noise: Noise,
    left: f64,
    seed: u64,
) -> Vec<Step> {
    let mut machine = Machine::new(arms, noise, left, seed);
    (0..blocks).flat_map(|_| machine.block(order)).collect()
}

/// Arms and blocks of a run, and how its blocks are ordered.
const RUNS: [(usize, usize, Order); 7] = [
    (2, 10, Order::Shuffled),
    (2, 40, Order::Shuffled),
    (2, 200, Order::Shuffled),
    (2, 20, Order::Balanced),
    (3, 40, Order::Shuffled),
    (8, 20, Order::Shuffled),
    (28, 40, Order::Shuffled),
];

#[test]
fn noise_is_seldom_taken_for_carry_over() {
    // Fewer would take chance for a defect.
    check_noise(|_, _| 2_000);
}

#[test]
#[ignore = "takes a minute, and is the same for many more of the large runs"]
fn noise_is_seldom_taken_for_carry_over_in_many_large_runs() {
    check_noise(|_, _| 10_000);
}

fn check_noise(runs: impl Fn(usize, usize) -> u64) {
    println!("Runs in which some arm is said to leave something behind, at {LEVEL}");
    for noise in Noise::ALL {
        for (arms, blocks, order) in RUNS {
            let runs = runs(arms, blocks);
            let hits = (0..runs).filter(|&seed| {
                !carry_over(&steps(arms, blocks, order, noise, 0.0, seed), LEVEL).is_empty()
            });
            let rate = hits.count() as f64 / runs as f64;
            println!("{noise:?}, {arms} arms, {blocks} blocks {order:?}: {:.2}%", 100.0 * rate);
            assert!(rate <= LEVEL, "{noise:?}, {arms} arms, {blocks} blocks {order:?}: {rate}");
        }
    }
}

#[test]
fn what_an_arm_leaves_behind_is_found_and_told() {
    println!("Runs in which it is found that arm 1 leaves so much behind, at {LEVEL}");
    for left in [0.1, 0.2] {
        for (arms, blocks, order) in RUNS {
            let runs = 200;
            let found: Vec<f64> = (0..runs)
                .filter_map(|seed| {
                    let run = steps(arms, blocks, order, Noise::Gaussian, left, seed);
                    let found = carry_over(&run, LEVEL);
                    found.first().filter(|first| first.after == 1).map(|first| first.effect)
                })
                .collect();
            let rate = found.len() as f64 / runs as f64;
            let effect = if found.is_empty() { f64::NAN } else { median(&mut found.clone()) };
            println!(
                "{left}, {arms} arms, {blocks} blocks {order:?}: {:.1}%, median effect {effect:.3}",
                100.0 * rate
            );
            if blocks >= 40 && left > 0.15 {
                assert!(rate > 0.95, "{arms} arms: {rate}");
                assert!((effect - left).abs() < 0.03, "{arms} arms: {effect}");
            }
        }
    }
}
