//! The smallest difference that a 60-second run could show on this machine.
//!
//! Measuring it outright would take hours, so it is simulated: the blocks of a
//! place against itself are drawn again and fed to the real procedure. They
//! are drawn in short stretches, so that a block still resembles the one before
//! it (moving-block bootstrap, Künsch 1989), each stretch with a random sign,
//! for which of two equal arms came out slower is chance.
//!
//! No shift has to be searched for: a difference added to every block moves
//! the interval by just as much. A run distinguishes a difference from none if it is
//! larger than the distance from "none" down to the lower bound.

use std::time::Duration;

use model::plan::DEFAULT_ERROR_RATE;
use model::selftest::Resolution;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stats::{Decision, Sequence, Settings};

use crate::schedule::BLOCKS_MAX;

/// The run that is simulated.
const RUN: Duration = Duration::from_secs(60);
/// Enough for the share that is asked for, which 20 of them are. The longest
/// take 0.1 s each.
const SIMULATED_RUNS: usize = 25;
/// The share of the runs that must show a difference.
const POWER: f64 = 0.8;
/// Blocks drawn together.
const STRETCH: usize = 5;
/// Fewer blocks than this do not show how they scatter.
const BLOCKS_NEEDED: usize = 20;

/// What 60 seconds could show, given the log ratios of a place against itself
/// and how long a block takes. `None` where there are too few blocks.
pub(super) fn resolution(
    log_ratios: &[f64],
    block_time: Duration,
    threshold: f64,
    seed: u64,
) -> Option<Resolution> {
    if log_ratios.len() < BLOCKS_NEEDED || block_time.is_zero() {
        return None;
    }
    let blocks = (RUN.as_secs_f64() / block_time.as_secs_f64()) as usize;
    let blocks = blocks.clamp(1, BLOCKS_MAX);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut distances = Vec::new();
    let mut same_blocks = Vec::new();
    for _ in 0..SIMULATED_RUNS {
        let series = draw(log_ratios, blocks, &mut random);
        distances.push(distance_to_none(&series));
        same_blocks.extend(blocks_until_same(&series, threshold).map(|blocks| blocks as f64));
    }
    distances.sort_by(f64::total_cmp);
    let needed = distances[(POWER * SIMULATED_RUNS as f64).ceil() as usize - 1];
    let (_, spread) = stats::center_and_spread(log_ratios);
    let share = |log: f64| log.is_finite().then(|| log.exp_m1());
    Some(Resolution {
        blocks: log_ratios.len() as u64,
        noise_per_block: spread,
        blocks_in_60_s: blocks as u64,
        simulated_runs: SIMULATED_RUNS as u64,
        smallest_difference: share(needed),
        smallest_slower: share(needed + threshold.ln_1p()),
        threshold,
        same_share: same_blocks.len() as f64 / SIMULATED_RUNS as f64,
        same_blocks_median: (!same_blocks.is_empty()).then(|| stats::median(&mut same_blocks)),
    })
}

/// A run's blocks.
fn draw(log_ratios: &[f64], blocks: usize, random: &mut impl Rng) -> Vec<f64> {
    let mut series = Vec::with_capacity(blocks + STRETCH);
    while series.len() < blocks {
        let start = random.random_range(0..=log_ratios.len() - STRETCH);
        let sign = if random.random() { 1.0 } else { -1.0 };
        series.extend(log_ratios[start..start + STRETCH].iter().map(|ratio| sign * ratio));
    }
    series.truncate(blocks);
    series
}

fn sequence(threshold: f64) -> Sequence {
    Sequence::new(Settings { threshold, error_rate: DEFAULT_ERROR_RATE })
}

/// How far below "none" the interval reaches when the run ends.
fn distance_to_none(series: &[f64]) -> f64 {
    let mut sequence = sequence(0.0);
    for ratio in series {
        // The log ratios are finite: others were left out.
        let _ = sequence.push(*ratio);
    }
    (-sequence.interval_at(DEFAULT_ERROR_RATE).low).max(0.0)
}

fn blocks_until_same(series: &[f64], threshold: f64) -> Option<usize> {
    let mut sequence = sequence(threshold);
    for ratio in series {
        let _ = sequence.push(*ratio);
        if sequence.decision() != Decision::Open {
            break;
        }
    }
    (sequence.decision() == Decision::Within).then(|| sequence.blocks())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rand::Rng as _;

    use super::*;

    /// Noise of about this spread, heavier in the tails than Gaussian.
    fn noise(spread: f64, blocks: usize) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut uniform = || random.random_range(-1.0..1.0_f64);
        (0..blocks).map(|_| spread * (uniform() + uniform() + uniform())).collect()
    }

    const BLOCK: Duration = Duration::from_millis(400);

    #[test]
    fn runs_with_the_smallest_difference_are_decided_and_with_half_of_it_are_not() {
        let seen = noise(0.03, 200);
        let found = resolution(&seen, BLOCK, 0.05, 1).unwrap();
        let decided = |shift: f64, threshold: f64| {
            let mut random = ChaCha8Rng::seed_from_u64(2);
            let runs = (0..60).filter(|_| {
                let mut sequence = sequence(threshold);
                for ratio in draw(&seen, found.blocks_in_60_s as usize, &mut random) {
                    let _ = sequence.push(ratio + shift.ln_1p());
                }
                sequence.decision() == Decision::Greater
            });
            runs.count()
        };
        let smallest = found.smallest_difference.unwrap();
        assert!(decided(smallest * 1.05, 0.0) >= 45, "{smallest}");
        assert!(decided(smallest * 0.5, 0.0) <= 30, "{smallest}");
        assert!(decided(found.smallest_slower.unwrap() + smallest * 0.1, 0.05) >= 45);
    }

    #[test]
    fn a_quieter_machine_resolves_more() {
        let quiet = resolution(&noise(0.01, 200), BLOCK, 0.05, 1).unwrap();
        let loud = resolution(&noise(0.1, 200), BLOCK, 0.05, 1).unwrap();
        assert!(quiet.smallest_difference < loud.smallest_difference);
        assert!(quiet.same_share >= 0.99 && quiet.same_blocks_median < Some(40.0));
        assert!(loud.noise_per_block > 5.0 * quiet.noise_per_block);
    }

    #[test]
    fn too_few_blocks_say_nothing() {
        assert_eq!(resolution(&[0.01; 19], BLOCK, 0.05, 1), None);
        let brief = resolution(&noise(0.03, 40), Duration::from_secs(30), 0.05, 1).unwrap();
        assert_eq!(brief.smallest_difference, None);
    }
}
