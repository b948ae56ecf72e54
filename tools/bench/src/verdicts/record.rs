//! The blocks of a recorded run, and runs drawn from them.

use model::arm::Pair;
use model::run::Run;
use rand::Rng;

/// Blocks drawn together.
const STRETCH: usize = 5;
/// Fewer do not show how they scatter.
pub(crate) const BLOCKS_MIN: usize = 40;

/// For each block the logarithms of the two arms' times per operation, base first.
/// The other arm's are shifted so that there is no difference in the center.
pub(crate) struct Record(Vec<[f64; 2]>);

impl Record {
    /// The blocks of a run that were not doubted.
    pub(crate) fn of(run: &Run, pair: Pair) -> Self {
        let blocks = run.blocks().filter_map(|block| {
            let log = |arm: usize| {
                let slice = block.iter().find(|slice| slice.arm == arm)?;
                let trusted = slice.outcome.untrusted.is_none();
                Some(slice.score_ns().ln()).filter(|log| trusted && log.is_finite())
            };
            Some([log(pair.base)?, log(pair.other)?])
        });
        Self::from_logs(blocks.collect())
    }

    pub(crate) fn from_logs(mut blocks: Vec<[f64; 2]>) -> Self {
        if !blocks.is_empty() {
            let center = stats::median(&mut blocks.iter().map(|[a, b]| b - a).collect::<Vec<_>>());
            for [_, other] in &mut blocks {
                *other -= center;
            }
        }
        Self(blocks)
    }

    /// Blocks.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn log_ratios(&self) -> Vec<f64> {
        self.0.iter().map(|[base, other]| other - base).collect()
    }

    /// The spread of the log ratios, as a standard deviation.
    pub(crate) fn spread(&self) -> f64 {
        stats::center_and_spread(&self.log_ratios()).1
    }

    /// The lag-1 autocorrelation of the log ratios.
    pub(crate) fn resemblance(&self) -> f64 {
        let ratios = self.log_ratios();
        let squares: f64 = ratios.iter().map(|x| x * x).sum();
        ratios.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares
    }

    /// So many log ratios as a run in blocks would meet them: in stretches, each
    /// with a random sign, for which of two equal arms comes out slower is chance.
    pub(crate) fn in_blocks(&self, count: usize, random: &mut impl Rng) -> Vec<f64> {
        let mut series = Vec::with_capacity(count + STRETCH);
        while series.len() < count {
            let start = random.random_range(0..=self.len() - STRETCH);
            let sign = if random.random() { 1.0 } else { -1.0 };
            let stretch = &self.0[start..start + STRETCH];
            series.extend(stretch.iter().map(|[base, other]| sign * (other - base)));
        }
        series.truncate(count);
        series
    }

    /// So many times of the one arm, then as many of the other, as they followed
    /// each other from a random block on.
    pub(crate) fn one_after_the_other(&self, count: usize, random: &mut impl Rng) -> [Vec<f64>; 2] {
        let count = count.min(self.len() / 2);
        let start = random.random_range(0..=self.len() - 2 * count);
        let (first, second) = self.0[start..start + 2 * count].split_at(count);
        let swapped = usize::from(random.random::<bool>());
        let times = |blocks: &[[f64; 2]], arm: usize| blocks.iter().map(|b| b[arm].exp()).collect();
        [times(first, swapped), times(second, 1 - swapped)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    fn drifting() -> Record {
        Record::from_logs((0..50).map(|i| [0.1 * f64::from(i), 0.1 * f64::from(i) + 7.0]).collect())
    }

    #[test]
    fn the_center_is_taken_out() {
        assert!(drifting().log_ratios().iter().all(|ratio| ratio.abs() < 1e-12));
    }

    #[test]
    fn drift_shows_only_in_one_after_the_other() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let blocks = drifting().in_blocks(100, &mut random);
        assert!(blocks.len() == 100 && blocks.iter().all(|ratio| ratio.abs() < 1e-12));
        let [a, b] = drifting().one_after_the_other(10, &mut random);
        assert!(a.len() == 10 && b.len() == 10);
        // Ten blocks later, at 0.1 a block.
        for (a, b) in a.iter().zip(&b) {
            assert!((b / a / 1.0_f64.exp() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_short_record_gives_what_it_has() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(drifting().one_after_the_other(100, &mut random)[0].len(), 25);
    }
}
