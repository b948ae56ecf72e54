//! By how much more than its blocks show a center may be off, because it changes slowly.
//!
//! A disk may be a tenth slower for the next ten seconds, so that each block resembles
//! many before it a little. What such a change does to a mean does not shrink with the
//! number of blocks, and two runs differ by it. It shows when a run is cut into stretches:
//! their means scatter more than the blocks within them explain (analysis of variance,
//! Fisher 1925; means of batches, as in Alexopoulos and Seila, "Output data analysis",
//! 1998).

use crate::median::center_and_spread;

/// A run is cut into so many stretches.
const STRETCHES: usize = 8;
/// With fewer blocks than four to a stretch, their means tell nothing.
const BLOCKS_MIN: usize = 4 * STRETCHES;
/// How many times as much as blocks explain the means' variance is at least: of blocks that
/// do not resemble each other at most one run in 20 has as much, by the distribution of F
/// with 7 and 24 degrees of freedom or more.
const TIMES_MIN: f64 = 2.43;
/// Student's t with 7 degrees of freedom, at 97.5%.
pub(crate) const STUDENT: f64 = 2.365;
/// Values farther out than this many spreads count as this far, so that one stall is no
/// change of its stretch.
const CLIP: f64 = 3.0;

/// How far the center of another run of as many blocks may lie from this one's, besides
/// what chance does to the blocks: half of a 95% interval of the difference. 0 where the
/// stretches are alike.
pub fn slow_change(values: &[f64]) -> f64 {
    if values.len() < BLOCKS_MIN {
        return 0.0;
    }
    let (center, spread) = center_and_spread(values);
    let reach = if spread > 0.0 { CLIP * spread } else { f64::INFINITY };
    let clipped: Vec<f64> =
        values.iter().map(|value| (value - center).clamp(-reach, reach)).collect();
    let bound = |stretch: usize| stretch * clipped.len() / STRETCHES;
    let stretches = (0..STRETCHES).map(|stretch| &clipped[bound(stretch)..bound(stretch + 1)]);
    let means: Vec<f64> = stretches.clone().map(mean).collect();
    let within: f64 = stretches.zip(&means).map(|(values, mean)| squares(values, *mean)).sum();
    let within = within / (clipped.len() - STRETCHES) as f64;
    let between = squares(&means, mean(&means)) / (STRETCHES - 1) as f64;
    let explained = within / (clipped.len() as f64 / STRETCHES as f64);
    if between <= TIMES_MIN * explained {
        return 0.0;
    }
    STUDENT * (2.0 / STRETCHES as f64 * (between - explained)).sqrt()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64], about: f64) -> f64 {
    values.iter().map(|value| (value - about).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;

    const RUNS: usize = 1000;

    /// Runs of so many blocks, with noise of 5% and changes of that size that last for
    /// ten blocks each.
    fn runs(blocks: usize, change: f64) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut gauss = move || -> f64 { StandardNormal.sample(&mut random) };
        let mut run = || {
            let mut level = 0.0;
            let block = |block: usize| {
                if block.is_multiple_of(10) {
                    level = change * gauss();
                }
                level + 0.05 * gauss()
            };
            (0..blocks).map(block).collect()
        };
        (0..RUNS).map(|_| run()).collect()
    }

    #[test]
    fn independent_blocks_are_seldom_taken_for_a_change() {
        for blocks in [32, 40, 160] {
            let found = runs(blocks, 0.0).iter().filter(|run| slow_change(run) > 0.0).count();
            assert!(found <= RUNS * 6 / 100, "{blocks} blocks: {found}");
        }
    }

    #[test]
    fn two_runs_of_a_machine_that_changes_slowly_agree() {
        let runs = runs(80, 0.05);
        let changed = runs.iter().filter(|run| slow_change(run) > 0.0).count();
        assert!(changed > RUNS * 9 / 10, "{changed}");
        let holds = |pair: &[Vec<f64>]| {
            // What the blocks alone allow for, as a confidence interval does.
            let chance = 2.0 * 0.05 / (80_f64).sqrt();
            let apart = (mean(&pair[0]) - mean(&pair[1])).abs();
            (apart <= chance, apart <= chance + slow_change(&pair[0]))
        };
        let held: Vec<(bool, bool)> = runs.windows(2).map(holds).collect();
        let share = |which: fn(&(bool, bool)) -> bool| {
            held.iter().filter(|held| which(held)).count() as f64 / held.len() as f64
        };
        assert!(share(|held| held.1) >= 0.95, "{}", share(|held| held.1));
        assert!(share(|held| held.0) < 0.5, "without it {}", share(|held| held.0));
    }

    #[test]
    fn a_stall_and_blocks_without_any_scatter_are_no_change() {
        let mut calm: Vec<f64> = (0..64).map(|block| f64::from(block % 3)).collect();
        assert!(slow_change(&calm).abs() < f64::EPSILON);
        calm[20] = 1e9;
        assert!(slow_change(&calm).abs() < f64::EPSILON);
        assert!(slow_change(&[1.0; 64]).abs() < f64::EPSILON);
    }
}
