//! The smallest difference that a 60-second run could show on this machine.
//!
//! Measuring it outright would take hours, so it is simulated: the blocks of a
//! place against itself are drawn again and fed to the real procedure. They
//! are drawn a few in a row, so that a block still resembles the one before
//! it (moving-block bootstrap, Künsch 1989), each row with a random sign,
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
use stats::{Decision, STRETCHES, Settings, Stretches, trimmed_mean};

use crate::schedule::BLOCKS_MAX;

/// The run that is simulated.
const RUN: Duration = Duration::from_secs(60);
/// Enough for the share that is asked for, which 80 of them are.
const SIMULATED_RUNS: usize = 100;
/// The share of the runs that must show a difference.
const POWER: f64 = 0.8;
/// Blocks drawn in a row.
const ROW: usize = 5;
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
    let mut series = Vec::with_capacity(blocks + ROW);
    while series.len() < blocks {
        let start = random.random_range(0..=log_ratios.len() - ROW);
        let sign = if random.random() { 1.0 } else { -1.0 };
        series.extend(log_ratios[start..start + ROW].iter().map(|ratio| sign * ratio));
    }
    series.truncate(blocks);
    series
}

/// The comparison after each stretch of a run of these blocks, and how many they were.
fn stretches(series: &[f64], threshold: f64) -> impl Iterator<Item = (Stretches, usize)> + '_ {
    let settings = Settings { threshold, error_rate: DEFAULT_ERROR_RATE };
    let (mut stretches, count) = (Stretches::new(settings), series.len().min(STRETCHES));
    let cut = move |stretch: usize| stretch * series.len() / count;
    (0..count).map(move |stretch| {
        let mean = trimmed_mean(&series[cut(stretch)..cut(stretch + 1)]);
        stretches.push(mean.unwrap_or(f64::NAN));
        (stretches.clone(), cut(stretch + 1))
    })
}

/// How far below "none" the interval reaches when the run ends.
fn distance_to_none(series: &[f64]) -> f64 {
    let end = stretches(series, 0.0).last().filter(|(end, _)| end.looked_at() > 0);
    end.map_or(f64::INFINITY, |(end, _)| (-end.interval().low).max(0.0))
}

fn blocks_until_same(series: &[f64], threshold: f64) -> Option<usize> {
    let is_decided = |(at, _): &(Stretches, usize)| at.decision() != Decision::Open;
    let (decided, blocks) = stretches(series, threshold).find(is_decided)?;
    (decided.decision() == Decision::Within).then_some(blocks)
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
                let mut series = draw(&seen, found.blocks_in_60_s as usize, &mut random);
                for ratio in &mut series {
                    *ratio += shift.ln_1p();
                }
                let end = stretches(&series, threshold).last();
                end.is_some_and(|(end, _)| end.decision() == Decision::Greater)
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
        assert!(quiet.same_share >= 0.99 && quiet.same_blocks_median < Some(80.0));
        assert!(loud.noise_per_block > 5.0 * quiet.noise_per_block);
    }

    #[test]
    fn too_few_blocks_say_nothing() {
        assert_eq!(resolution(&[0.01; 19], BLOCK, 0.05, 1), None);
        let brief = resolution(&noise(0.03, 40), Duration::from_secs(30), 0.05, 1).unwrap();
        assert_eq!(brief.smallest_difference, None);
    }
}
