//! How often two runs of the same are told apart, and two runs that differ.
//!
//! All draws are seeded. The figures are printed by
//! `cargo test -p iotoll-stats --test suite between_runs -- --ignored --nocapture`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use iotoll_stats::{Level, STRETCHES, Variation, difference, moderate};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution as _, StandardNormal, StudentT};

/// Diffs of a test, and of a table's figure.
const FEW: u64 = 500;
const DIFFS: u64 = 1_000;
const ERROR_RATE: f64 = 0.05;
/// The usual smallest difference that matters.
const THRESHOLD: f64 = 0.05;
/// What is planted: an arm that takes 15% more time.
const PLANTED: f64 = 1.15;
/// What a stretch of ten rounds with noise of 5% scatters by.
const SCATTER: f64 = 0.016;

/// What stays the same within a run and differs in the next.
#[derive(Clone, Copy, Debug)]
enum Between {
    /// Gaussian, half of its variance the whole machine's and half each arm's own.
    Gaussian(f64),
    /// Student's t with 3 degrees of freedom, of this standard deviation.
    Tails(f64),
    /// 3 runs in 10 take so much longer, in one arm by itself.
    Modes(f64),
}

impl Between {
    /// By how much the arms of a run lie off.
    fn draw(self, arms: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
        let gaussian = |random: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(random) };
        let all = gaussian(random);
        let own = |_| match self {
            Self::Gaussian(deviation) => deviation * (all + gaussian(random)) / 2_f64.sqrt(),
            Self::Tails(deviation) => {
                deviation / 3_f64.sqrt() * StudentT::new(3.0).unwrap().sample(random)
            }
            Self::Modes(longer) => {
                0.01 * gaussian(random) + longer * f64::from(u8::from(random.random_bool(0.3)))
            }
        };
        (0..arms).map(own).collect()
    }
}

/// The arms' levels in a run whose truth these are.
fn run(truth: &[f64], between: Between, random: &mut ChaCha8Rng) -> Vec<Level> {
    let off = between.draw(truth.len(), random);
    let level = |(truth, off): (&f64, f64)| {
        let mut noise = || -> f64 { StandardNormal.sample(random) };
        let stretches: Vec<f64> = (0..STRETCHES).map(|_| truth + off + SCATTER * noise()).collect();
        Level::new(stretches.iter().sum::<f64>() / STRETCHES as f64, &stretches).unwrap()
    };
    truth.iter().zip(off).map(level).collect()
}

/// The share of diffs that name a change where there is none, and of those that name the
/// one that was planted in the first arm.
fn named(diffs: u64, arms: usize, repeats: usize, between: Between) -> [f64; 2] {
    let (mut falsely, mut rightly) = (0, 0);
    for seed in 0..diffs {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let same = vec![7.0; arms];
        let others: Vec<Vec<Level>> =
            (0..repeats).map(|_| run(&same, between, &mut random)).collect();
        let before = run(&same, between, &mut random);
        let after = run(&same, between, &mut random);
        let learned = |arm: usize| {
            Variation::learned(&[others.iter().map(|levels| levels[arm].log).collect()])
        };
        let mut variations: Vec<_> = (0..arms).map(learned).collect();
        moderate(&mut variations);
        let is_beyond = |arm: usize, planted: f64| {
            let after = Level { log: after[arm].log + planted, ..after[arm] };
            let found = difference(&before[arm], &after, variations[arm], ERROR_RATE / arms as f64);
            [found.low > THRESHOLD.ln_1p(), found.high < -THRESHOLD.ln_1p()]
        };
        falsely += u64::from((0..arms).any(|arm| is_beyond(arm, 0.0).contains(&true)));
        rightly += u64::from(is_beyond(0, PLANTED.ln())[0]);
    }
    [falsely, rightly].map(|count| count as f64 / diffs as f64)
}

#[test]
fn two_runs_of_the_same_are_seldom_told_apart_and_a_change_is_found() {
    for arms in [4, 28] {
        for (deviation, repeats) in [(0.01, 0), (0.01, 4), (0.01, 10), (0.05, 4)] {
            let [falsely, rightly] = named(FEW, arms, repeats, Between::Gaussian(deviation));
            assert!(falsely <= ERROR_RATE, "{arms} {repeats} {deviation}: {falsely}");
            // What 500 diffs may miss by chance is allowed for.
            let least = match repeats {
                10 => 0.93,
                4 if deviation <= 0.01 => 0.8,
                _ => 0.0,
            };
            assert!(rightly >= least, "{arms} {repeats} {deviation}: {rightly}");
        }
    }
}

/// What the method withstands, and what it does not promise to.
#[test]
#[ignore = "prints the table in docs/statistics-appendix.md, in a minute"]
fn how_often_diffs_name_a_change() {
    println!("Diffs of two runs that name a change, {DIFFS} each: of the same, and 15% planted");
    let gaussian = [0.01, 0.02, 0.05].map(Between::Gaussian);
    let others = [Between::Tails(0.01), Between::Tails(0.03), Between::Modes(0.1)];
    for arms in [4, 28] {
        let rows = gaussian.map(|between| (between, [0, 4, 10, 20].as_slice()));
        for (between, repeats) in rows.into_iter().chain(others.map(|b| (b, [0, 6, 20].as_slice())))
        {
            for &repeats in repeats {
                let [falsely, rightly] = named(DIFFS, arms, repeats, between);
                println!(
                    "{arms:>2} arms, {repeats:>2} other runs, {:<16} {:>5.1}% {:>6.1}%",
                    format!("{between:?}"),
                    falsely * 100.0,
                    rightly * 100.0
                );
            }
        }
    }
}
