//! How the comparisons stand: the blocks' paired log ratios, fed to their
//! sequences block by block. Used while measuring, to know when to stop, and
//! again on saved samples, to conclude: the same code, so the same verdicts.

use model::arm::Pair;
use model::sample::Sample;
use stats::{Decision, Sequence, Settings, Signs};

/// One wrong verdict in twenty at the most, each comparison by itself.
pub(crate) const ERROR_RATE: f64 = 0.05;

const HALF: f64 = 0.5;
const HUNDREDTH: f64 = 0.01;

/// One comparison so far.
pub(crate) struct Standing {
    /// What is compared.
    pub(crate) pair: Pair,
    /// Of the mean time per operation. This one decides when to stop.
    pub(crate) mean: Sequence,
    /// Of the 99th percentile.
    pub(crate) p99: Sequence,
    /// Of the share of operations that failed.
    pub(crate) errors: Signs,
    /// Blocks that were not doubted.
    pub(crate) seen: u64,
}

impl Standing {
    /// Takes in one block's samples of the two arms.
    ///
    /// A block in which either is doubted says nothing. Where half of the operations
    /// failed there is no median, and where a hundredth did no 99th percentile, that
    /// would be the operations' rather than the limit's on how long they may take.
    fn take(&mut self, base: &Sample, other: &Sample) {
        if base.untrusted.is_some() || other.untrusted.is_some() {
            return;
        }
        self.seen += 1;
        let failed = base.failed_share().max(other.failed_share());
        if failed < HALF {
            // A block without a finite ratio says nothing, and is left out.
            let _ = self.mean.push(log_ratio(other.toll_ns(), base.toll_ns()));
        }
        if failed < HUNDREDTH && !base.tail_untrusted && !other.tail_untrusted {
            let _ = self.p99.push(log_ratio(other.p99_ns, base.p99_ns));
        }
        if base.failed.is_some() && other.failed.is_some() {
            self.errors.push(other.failed_share() - base.failed_share());
        }
    }
}

/// All comparisons so far.
pub(crate) struct Standings(pub(crate) Vec<Standing>);

impl Standings {
    /// Nothing known yet.
    pub(crate) fn new(pairs: &[Pair], worth: f64) -> Self {
        let sequence = || Sequence::new(Settings { worth, error_rate: ERROR_RATE });
        Self(
            pairs
                .iter()
                .map(|&pair| Standing {
                    pair,
                    mean: sequence(),
                    p99: sequence(),
                    errors: Signs::default(),
                    seen: 0,
                })
                .collect(),
        )
    }

    /// Takes in one block's samples.
    pub(crate) fn take_block(&mut self, block: &[Sample]) {
        let of = |arm: usize| block.iter().find(|s| s.arm == arm);
        for standing in &mut self.0 {
            if let (Some(base), Some(other)) = (of(standing.pair.base), of(standing.pair.other)) {
                standing.take(base, other);
            }
        }
    }

    /// Takes in saved samples, which are in the order in which they were measured.
    pub(crate) fn take_all(&mut self, samples: &[Sample]) {
        for block in samples.chunk_by(|a, b| a.block == b.block) {
            self.take_block(block);
        }
    }

    /// How many are decided.
    pub(crate) fn decided(&self) -> usize {
        self.0.iter().filter(|s| s.mean.decision() != Decision::Open).count()
    }

    /// What is still open.
    pub(crate) fn open_pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.0.iter().filter(|s| s.mean.decision() == Decision::Open).map(|s| s.pair)
    }
}

fn log_ratio(other: f64, base: f64) -> f64 {
    (other / base).ln()
}

#[cfg(test)]
mod tests {
    use model::arm::Axis;

    use super::*;

    fn sample(arm: usize, block: usize, failed: u64) -> Sample {
        Sample {
            arm,
            block,
            operations: 100,
            elapsed_ns: 1000 + arm as u64,
            p99_ns: 20.0,
            failed: Some(failed),
            ..Sample::default()
        }
    }

    /// How many blocks the mean, the tail and the failures of a pair rest on, after
    /// one whose second sample has been changed.
    fn taken(change: impl Fn(&mut Sample)) -> [u64; 3] {
        let pair = Pair { base: 0, other: 1, axis: Axis::Place };
        let mut standings = Standings::new(&[pair], 0.05);
        let mut other = sample(1, 0, 0);
        change(&mut other);
        standings.take_block(&[sample(0, 0, 0), other]);
        let standing = &standings.0[0];
        [standing.mean.blocks() as u64, standing.p99.blocks() as u64, standing.seen]
    }

    #[test]
    fn what_a_block_cannot_tell_is_not_taken_from_it() {
        assert_eq!(taken(|_| ()), [1, 1, 1]);
        assert_eq!(taken(|s| s.failed = Some(1)), [1, 0, 1]);
        assert_eq!(taken(|s| s.failed = Some(50)), [0, 0, 1]);
        assert_eq!(taken(|s| s.tail_untrusted = true), [1, 0, 1]);
        assert_eq!(taken(|s| s.untrusted = Some(String::new())), [0, 0, 0]);
    }
}
