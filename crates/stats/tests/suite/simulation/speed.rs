//! How many blocks a verdict takes.

use std::fmt::Write as _;

use iotoll_stats::{Decision, Sequence, median};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::simulation::machine::{Machine, Noise};
use crate::simulation::{decide, promised_and_stricter, sequence};

/// Median number of blocks to a decision, of which all must be `expected`
/// but for the error rate.
fn blocks_needed(noise: Noise, ratio: f64, expected: Decision) -> f64 {
    let runs = if noise == Noise::Gaussian(0.05) { 4_000 } else { 500 };
    let sequences: Vec<Sequence> = (0..runs)
        .map(|seed| decide(0.05, &mut Machine::new(noise, ratio.ln(), seed), 1_000))
        .collect();
    let wrong = sequences.iter().filter(|sequence| sequence.decision() != expected).count();
    assert!(wrong * 20 <= runs as usize, "{noise} at {ratio}: {wrong} not {expected:?}");
    median(&mut sequences.iter().map(|sequence| sequence.blocks() as f64).collect::<Vec<_>>())
}

#[test]
fn differences_are_found_with_few_blocks() {
    // The ratio, and the most blocks that may be needed with Gaussian noise of 5%.
    let cases = [
        ("halving", 0.5, Decision::Less, 9.0),
        ("doubling", 2.0, Decision::Greater, 9.0),
        ("-20%", 0.8, Decision::Less, 10.0),
        ("+12%", 1.12, Decision::Greater, 13.0),
        ("+8%", 1.08, Decision::Greater, 37.0),
        ("+3%", 1.03, Decision::Within, 76.0),
        ("same", 1.0, Decision::Within, 21.0),
    ];
    let mut table = String::from("Median number of blocks to a verdict at a worth of 5%:\n");
    write!(table, "{:22}", "noise").unwrap();
    for (label, ..) in cases {
        write!(table, " {label:>8}").unwrap();
    }
    for noise in promised_and_stricter() {
        write!(table, "\n{noise:22}").unwrap();
        for (label, ratio, expected, most) in cases {
            // Close to an edge, loud noise takes more blocks than are simulated.
            let close = ["+8%", "+3%"].contains(&label);
            if close && noise != Noise::Gaussian(0.05) {
                write!(table, " {:>8}", "").unwrap();
                continue;
            }
            let blocks = blocks_needed(noise, ratio, expected);
            write!(table, " {blocks:>8}").unwrap();
            assert!(noise != Noise::Gaussian(0.05) || blocks <= most, "{label}: {blocks}");
        }
    }
    println!("{table}\n");
}

/// However far apart they are, and with either arm the slower one.
#[test]
fn twelve_blocks_beyond_twofold_on_one_side_suffice() {
    for highest in [2.1_f64, 10.0, 45.0, 1_000.0, 1e9] {
        let logs = 2.0_f64.ln()..=highest.ln();
        for seed in 0..300 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let side = if rng.random() { 1.0 } else { -1.0 };
            let mut sequence = sequence(0.05);
            (0..12).for_each(|_| sequence.push(side * rng.random_range(logs.clone())).unwrap());
            let expected = if side > 0.0 { Decision::Greater } else { Decision::Less };
            assert_eq!(sequence.decision(), expected, "2 to {highest}, seed {seed}");
            assert!(sequence.decided_at().unwrap() <= 12);
        }
    }
}
