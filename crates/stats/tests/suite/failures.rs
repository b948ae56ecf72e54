//! How often two arms are told apart by how many of their operations fail, where just as many
//! do in the long run, and how surely they are where it is not so.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite failures -- --nocapture`.

#![allow(clippy::print_stdout)]

use iotoll_stats::{Decision, STRETCHES, Settings, Shares, Stretches};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const RUNS: u64 = 1_000;
/// Rounds of a stretch, and operations of each arm in a round.
const ROUNDS: usize = 20;
const OPERATIONS: usize = 100;

/// How operations of either arm fail.
#[derive(Clone, Copy, Debug)]
enum Failures {
    /// Each by itself, with these probabilities.
    Evenly(f64, f64),
    /// The base's all at once, in so many rounds of a hundred; the other's evenly.
    AtOnce(f64),
    /// Regimes that hit one arm or the other with the probability, and last for so many
    /// operations on average.
    Regimes(f64, f64),
}

/// The shares of failed operations in the rounds of a run, the other's less the base's.
fn rounds(failures: Failures, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut hits_base = random.random::<bool>();
    let mut round = || {
        let mut failed = [0_usize; 2];
        let at_once = matches!(failures, Failures::AtOnce(share) if random.random::<f64>() < share);
        for _ in 0..OPERATIONS {
            let shares = match failures {
                Failures::Evenly(base, other) => [base, other],
                Failures::AtOnce(share) => [f64::from(u8::from(at_once)), share],
                Failures::Regimes(share, stay) => {
                    hits_base ^= random.random::<f64>() < 1.0 / stay;
                    if hits_base { [share, 0.0] } else { [0.0, share] }
                }
            };
            for (failed, share) in failed.iter_mut().zip(shares) {
                *failed += usize::from(random.random::<f64>() < share);
            }
        }
        (failed[1] as f64 - failed[0] as f64) / OPERATIONS as f64
    };
    (0..STRETCHES * ROUNDS).map(|_| round()).collect()
}

/// How often the arms are told apart at any look, by stretches alone and with the bound that
/// holds whatever failures are like.
fn told_apart(failures: Failures) -> [f64; 2] {
    let mut hits = [0_u64; 2];
    for seed in 0..RUNS {
        let rounds = rounds(failures, &mut ChaCha8Rng::seed_from_u64(seed));
        let mut stretches = Stretches::new(Settings { threshold: 0.0, error_rate: 0.05 });
        let mut shares = Shares::new(0.05);
        let mut apart = [false; 2];
        for stretch in rounds.chunks(ROUNDS) {
            stretches.push(stretch.iter().sum::<f64>() / ROUNDS as f64);
            for difference in stretch {
                shares.push(*difference);
            }
            if stretches.decision() != Decision::Open {
                let (low, high) = shares.interval();
                apart = [true, apart[1] || low > 0.0 || high < 0.0];
            }
        }
        hits.iter_mut().zip(apart).for_each(|(hits, apart)| *hits += u64::from(apart));
    }
    hits.map(|hits| hits as f64 / RUNS as f64)
}

#[test]
fn arms_that_fail_as_often_are_seldom_told_apart() {
    println!("Told apart though as many fail in the long run, {RUNS} runs:");
    for failures in [
        Failures::Evenly(0.02, 0.02),
        Failures::Evenly(0.5, 0.5),
        Failures::AtOnce(0.02),
        Failures::Regimes(0.2, 10.0),
        Failures::Regimes(0.2, 40.0),
        Failures::Regimes(0.5, 80.0),
    ] {
        let rate = told_apart(failures);
        println!("{failures:?}: {:.1?}%", rate.map(|rate| 100.0 * rate));
        assert!(rate[1] <= 0.05, "{failures:?}: {rate:?}");
        // The positive control: what was not seen yet is no part of a t interval.
        let is_rare = matches!(failures, Failures::AtOnce(_));
        assert!(!is_rare || rate[0] > 0.1, "{failures:?}: {rate:?}");
    }
}

#[test]
fn arms_that_fail_more_often_are_found() {
    println!("Told apart rightly, {RUNS} runs:");
    for failures in [Failures::Evenly(0.05, 0.01), Failures::Evenly(0.1, 0.2)] {
        let rate = told_apart(failures);
        println!("{failures:?}: {:.1?}%", rate.map(|rate| 100.0 * rate));
        assert!(rate[1] > 0.9, "{failures:?}: {rate:?}");
    }
}
